#include "davinci/skill/library_schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <vector>

#include "davinci/base/hash.h"
#include "davinci/store/sqlite.h"

namespace davinci::skill {
namespace {

using store::SqliteExec;
using store::SqliteFailure;
using store::Statement;

constexpr int64_t kApplicationId = 0x64765331;  // "dvS1"

constexpr char kVersion1[] =
    "CREATE TABLE bodies (hash TEXT PRIMARY KEY, document TEXT NOT NULL);"
    "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, unix_s INTEGER NOT NULL,"
    "  actor TEXT NOT NULL, step INTEGER, kind TEXT NOT NULL, name TEXT NOT NULL,"
    "  reason TEXT NOT NULL, body TEXT NOT NULL, evidence TEXT NOT NULL, usage TEXT NOT NULL,"
    "  state TEXT NOT NULL, position INTEGER NOT NULL);"
    "CREATE INDEX events_by_name ON events (name, seq);"
    "CREATE TABLE skills (name TEXT PRIMARY KEY, body TEXT NOT NULL, evidence TEXT NOT NULL,"
    "  usage TEXT NOT NULL, state TEXT NOT NULL, position INTEGER NOT NULL, seq INTEGER NOT NULL);"
    "CREATE INDEX skills_by_seq ON skills (seq);"
    "CREATE TABLE snapshots (step INTEGER PRIMARY KEY, seq INTEGER NOT NULL,"
    "  num_active INTEGER NOT NULL, unix_s INTEGER NOT NULL, result TEXT NOT NULL);"
    "CREATE TABLE staged (key TEXT PRIMARY KEY, step INTEGER NOT NULL, kind TEXT NOT NULL,"
    "  document TEXT NOT NULL, result TEXT);"
    "CREATE INDEX staged_by_step ON staged (step, key);";

// Snapshots get a digest, and events become append-only by decree of the database.
constexpr char kVersion2[] =
    "ALTER TABLE snapshots ADD COLUMN digest TEXT NOT NULL DEFAULT '';"
    "CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN"
    "  SELECT RAISE(ABORT, 'events are never changed'); END;"
    "CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN"
    "  SELECT RAISE(ABORT, 'events are never deleted'); END;";

Result<int64_t> Pragma(sqlite3* db, const char* sql, std::string_view what) {
  Statement statement(db, sql);
  const int code = statement.Step();
  if (code != SQLITE_ROW) return SqliteFailure(db, code, what);
  return statement.Int(0);
}

Status FillDigests(sqlite3* db, std::string_view file) {
  const std::string what = fmt::format("migrating the library {}", file);
  std::vector<std::pair<int64_t, int64_t>> snapshots;  // step, sequence
  {
    Statement select(db, "SELECT step, seq FROM snapshots");
    int code = SQLITE_ROW;
    while ((code = select.Step()) == SQLITE_ROW)
      snapshots.emplace_back(select.Int(0), select.Int(1));
    if (code != SQLITE_DONE) return SqliteFailure(db, code, what);
  }
  for (const auto& [step, sequence] : snapshots) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string digest, LibraryDigest(db, sequence, file));
    Statement update(db, "UPDATE snapshots SET digest = ? WHERE step = ?");
    if (const int code = update.Bind(digest).Bind(step).Step(); code != SQLITE_DONE)
      return SqliteFailure(db, code, what);
  }
  return Status::Ok();
}

Status Migrate(sqlite3* db, int to, std::string_view file) {
  const std::string what = fmt::format("migrating the library {}", file);
  DAVINCI_RETURN_IF_ERROR(SqliteExec(db, to == 1 ? kVersion1 : kVersion2, what));
  if (to == 2) DAVINCI_RETURN_IF_ERROR(FillDigests(db, file));
  return SqliteExec(
      db, fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, to),
      what);
}

}  // namespace

Result<int> LibrarySchemaVersion(sqlite3* db, std::string_view file) {
  const std::string what = fmt::format("reading the library {}", file);
  DAVINCI_ASSIGN_OR_RETURN(const int64_t id, Pragma(db, "PRAGMA application_id", what));
  DAVINCI_ASSIGN_OR_RETURN(const int64_t version, Pragma(db, "PRAGMA user_version", what));
  DAVINCI_ASSIGN_OR_RETURN(const int64_t tables,
                           Pragma(db, "SELECT COUNT(*) FROM sqlite_master", what));
  if (tables == 0 && version == 0) return 0;
  if (id != kApplicationId)
    return InvalidArgument(fmt::format("{} is a database, but not a skill library", file));
  if (version > kLibrarySchemaVersion)
    return FailedPrecondition(
        fmt::format("{} was written by a newer davinci (format {}, this one knows {}); use that "
                    "one, or export it there as JSONL",
                    file, version, kLibrarySchemaVersion));
  return static_cast<int>(version);
}

Status MigrateLibrary(sqlite3* db, std::string_view file) {
  DAVINCI_ASSIGN_OR_RETURN(const int version, LibrarySchemaVersion(db, file));
  const std::string what = fmt::format("migrating the library {}", file);
  for (int to = version + 1; to <= kLibrarySchemaVersion; ++to) {
    DAVINCI_RETURN_IF_ERROR(SqliteExec(db, "BEGIN IMMEDIATE", what));
    Status status = Migrate(db, to, file);
    if (status.ok()) status = SqliteExec(db, "COMMIT", what);
    if (!status.ok()) {
      sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
      return status;
    }
  }
  return Status::Ok();
}

Result<std::string> LibraryDigest(sqlite3* db, int64_t sequence, std::string_view file) {
  Statement select(db, kStateAtEvent);
  select.Bind(sequence);
  Sha256 hash;
  int code = SQLITE_ROW;
  while ((code = select.Step()) == SQLITE_ROW) {
    if (select.Text(4) == "absent") continue;
    for (int column = 0; column < 6; ++column) hash.Field(select.Text(column));
  }
  if (code != SQLITE_DONE)
    return SqliteFailure(db, code, fmt::format("reading the library {}", file));
  return hash.FinishHex();
}

}  // namespace davinci::skill
