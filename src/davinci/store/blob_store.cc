#include "davinci/store/blob_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "davinci/base/hash.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 1;
constexpr int kBusyTimeoutMs = 10'000;

// Finalised when it leaves scope; parameters and columns are read in place.
struct Statement {
  Statement(sqlite3* db, const char* sql) {
    code = sqlite3_prepare_v2(db, sql, -1, &handle, nullptr);
  }
  ~Statement() { sqlite3_finalize(handle); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void BindText(int index, std::string_view text) {
    if (code == SQLITE_OK)
      code =
          sqlite3_bind_text64(handle, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void BindBlob(int index, std::string_view bytes) {
    // A null pointer would bind NULL, not the empty blob.
    if (code == SQLITE_OK)
      code = sqlite3_bind_blob64(handle, index, bytes.empty() ? "" : bytes.data(), bytes.size(),
                                 SQLITE_STATIC);
  }
  int Step() { return code == SQLITE_OK ? sqlite3_step(handle) : code; }

  sqlite3_stmt* handle = nullptr;
  int code = SQLITE_OK;
};

}  // namespace

BlobStore::BlobStore(fs::path file, Access access) : file_(std::move(file)), access_(access) {}

BlobStore::~BlobStore() { sqlite3_close_v2(db_); }

Status BlobStore::SqliteError(int code, std::string_view doing) const {
  const std::string what = fmt::format("{} {}", doing, file_.string());
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:  // a quota or a file-size limit looks like any other failed write
      return ResourceExhausted(fmt::format(
          "{}: the disk is full or a quota is reached ({}); free some space, then give the same "
          "command again, it goes on from here",
          what, sqlite3_errstr(code)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Unavailable(fmt::format("{}: another process keeps it locked", what));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return PermissionDenied(fmt::format("{}: {}", what, sqlite3_errstr(code)));
    default:
      return Internal(fmt::format("{}: {}", what, sqlite3_errstr(code)));
  }
}

Result<std::unique_ptr<BlobStore>> BlobStore::Open(const fs::path& file, Access access) {
  std::error_code error;
  if (access == Access::kRead && !fs::exists(file, error))
    return NotFound(fmt::format("{}: no such file", file.string()));
  std::unique_ptr<BlobStore> store(new BlobStore(file, access));
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
    version = sqlite3_column_int(statement.handle, 0);
  }
  if (version > kSchemaVersion)
    return FailedPrecondition(
        fmt::format("{} was written by a newer davinci (format {}, this one knows {})",
                    file_.string(), version, kSchemaVersion));
  if (version == kSchemaVersion || access_ == Access::kRead) return Status::Ok();
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
  std::lock_guard lock(mutex_);
  Statement insert(db_, "INSERT OR IGNORE INTO blobs (name, bytes) VALUES (?, ?)");
  insert.BindText(1, name);
  insert.BindBlob(2, bytes);
  if (const int code = insert.Step(); code != SQLITE_DONE) return SqliteError(code, "writing");
  return name;
}

Result<std::string> BlobStore::Get(std::string_view name) {
  std::string bytes;
  {
    std::lock_guard lock(mutex_);
    Statement select(db_, "SELECT bytes FROM blobs WHERE name = ?");
    select.BindText(1, name);
    const int code = select.Step();
    if (code == SQLITE_DONE)
      return NotFound(fmt::format("{} has no text {}", file_.string(), name));
    if (code != SQLITE_ROW) return SqliteError(code, "reading");
    const auto* data = static_cast<const char*>(sqlite3_column_blob(select.handle, 0));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(select.handle, 0));
    if (data != nullptr) bytes.assign(data, size);
  }
  if (Sha256Hex(bytes) != name)
    return Internal(fmt::format("{}: the text {} is damaged", file_.string(), name));
  return bytes;
}

Result<int64_t> BlobStore::Count() {
  std::lock_guard lock(mutex_);
  Statement count(db_, "SELECT count(*) FROM blobs");
  if (const int code = count.Step(); code != SQLITE_ROW) return SqliteError(code, "reading");
  return sqlite3_column_int64(count.handle, 0);
}

}  // namespace davinci::store
