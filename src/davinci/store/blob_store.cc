#include "davinci/store/blob_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "davinci/base/hash.h"
#include "davinci/base/mutex.h"
#include "davinci/store/sqlite.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;

constexpr int kBlobSchemaVersion = 1;
constexpr int kBusyTimeoutMs = 10'000;

}  // namespace

BlobStore::BlobStore(fs::path file, Access access) : file_(std::move(file)), access_(access) {}

BlobStore::~BlobStore() { sqlite3_close_v2(db_); }

Status BlobStore::SqliteError(int code, std::string_view doing) const {
  return SqliteFailure(db_, code, fmt::format("{} {}", doing, file_.string()));
}

Result<std::unique_ptr<BlobStore>> BlobStore::Open(const fs::path& file, Access access) {
  std::error_code error;
  if (access == Access::kRead && !fs::exists(file, error))
    return NotFound(fmt::format("{}: no such file", file.string()));
  std::unique_ptr<BlobStore> store(new BlobStore(file, access));
  const MutexLock lock(store->mutex_);
  DAVINCI_RETURN_IF_ERROR(store->Connect());
  return store;
}

Status BlobStore::Connect() {
  const int flags =
      access_ == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  int code = sqlite3_open_v2(file_.c_str(), &db_, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  if (code != SQLITE_OK) return SqliteError(code, "opening");
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  if (access_ == Access::kWrite) {
    // FULL: a commit is on the disk when it returns, which Put() promises.
    code = sqlite3_exec(db_, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", nullptr,
                        nullptr, nullptr);
    if (code != SQLITE_OK) return SqliteError(code, "opening");
  }
  int version = 0;
  {
    Statement statement(db_, "PRAGMA user_version");
    code = statement.Step();
    if (code != SQLITE_ROW) return SqliteError(code, "reading");
    version = static_cast<int>(statement.Int(0));
  }
  if (version > kBlobSchemaVersion)
    return FailedPrecondition(
        fmt::format("{} was written by a newer davinci (format {}, this one knows {})",
                    file_.string(), version, kBlobSchemaVersion));
  if (version == kBlobSchemaVersion || access_ == Access::kRead) return Status::Ok();
  code = sqlite3_exec(db_,
                      "BEGIN IMMEDIATE;"
                      "CREATE TABLE IF NOT EXISTS blobs (name TEXT PRIMARY KEY, bytes BLOB NOT "
                      "NULL) WITHOUT ROWID;"
                      "PRAGMA user_version = 1; COMMIT;",
                      nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::Ok() : SqliteError(code, "preparing");
}

Result<std::string> BlobStore::Put(std::string_view bytes) {
  if (access_ != Access::kWrite) return Internal(file_.string() + " is open for reading only");
  std::string name = Sha256Hex(bytes);
  MutexLock lock(mutex_);
  Statement insert(db_, "INSERT OR IGNORE INTO blobs (name, bytes) VALUES (?, ?)");
  insert.Bind(name).Bind(bytes);
  if (const int code = insert.Step(); code != SQLITE_DONE) return SqliteError(code, "writing");
  return name;
}

Result<std::string> BlobStore::Get(std::string_view name) {
  std::string bytes;
  {
    MutexLock lock(mutex_);
    Statement select(db_, "SELECT bytes FROM blobs WHERE name = ?");
    select.Bind(name);
    const int code = select.Step();
    if (code == SQLITE_DONE)
      return NotFound(fmt::format("{} has no text {}", file_.string(), name));
    if (code != SQLITE_ROW) return SqliteError(code, "reading");
    bytes = select.Text(0);
  }
  if (Sha256Hex(bytes) != name)
    return Internal(fmt::format("{}: the text {} is damaged", file_.string(), name));
  return bytes;
}

Result<int64_t> BlobStore::Count() {
  MutexLock lock(mutex_);
  Statement count(db_, "SELECT count(*) FROM blobs");
  if (const int code = count.Step(); code != SQLITE_ROW) return SqliteError(code, "reading");
  return count.Int(0);
}

}  // namespace davinci::store
