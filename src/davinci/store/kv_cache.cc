#include "davinci/store/kv_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/unique_fd.h"
#include "davinci/store/sqlite.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;

constexpr int kCacheSchemaVersion = 1;
// Writing on every read would make readers wait for each other; "last used" is needed to the minute
// only.
constexpr int64_t kTouchEvery_s = 60;

constexpr char kSchema[] =
    "DROP TABLE IF EXISTS entries;"
    "CREATE TABLE entries (space TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
    "  digest TEXT NOT NULL, last_used_unix_s INTEGER NOT NULL, PRIMARY KEY (space, key)) WITHOUT "
    "ROWID;"
    "CREATE INDEX entries_by_use ON entries (space, last_used_unix_s);"
    "PRAGMA user_version = 1;";

bool MeansDamaged(int code) {
  const int primary = code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

// SQLite notices damage to its own structure, not a changed byte inside a value.
std::string Digest(std::string_view space, std::string_view key, std::string_view value) {
  return Sha256().Field(space).Field(key).Field(value).FinishHex();
}

// Carries "the file is damaged" from a body to WithRecovery; never leaves this file.
Status Damaged() { return Internal("damaged"); }
bool IsDamaged(const Status& status) {
  return status.code() == StatusCode::kInternal && status.message() == "damaged";
}

}  // namespace

KvCache::KvCache(fs::path file, Options options)
    : file_(std::move(file)), options_(std::move(options)) {}

KvCache::~KvCache() { CloseConnection(); }

void KvCache::CloseConnection() { sqlite3_close_v2(std::exchange(db_, nullptr)); }

Status KvCache::SqliteError(int code, std::string_view doing) const {
  const std::string what = fmt::format("{} {}", doing, file_.string());
  const int primary = code & 0xff;
  if (MeansDamaged(code)) return Damaged();
  // Only ENOSPC gives SQLITE_FULL; a quota or a file-size limit looks like any other failed write.
  if (primary == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC ||
      code == SQLITE_IOERR_TRUNCATE || code == SQLITE_IOERR_SHMSIZE) {
    return ResourceExhausted(
        fmt::format("{}: the disk is full or a quota is reached ({}); free some space, or set "
                    "DAVINCI_CACHE_DIR",
                    what, sqlite3_errstr(code)));
  }
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) {
    return Unavailable(fmt::format("{}: another process kept it locked for {} ms", what,
                                   options_.busy_timeout_ms));
  }
  if (primary == SQLITE_READONLY || primary == SQLITE_PERM || primary == SQLITE_CANTOPEN) {
    return PermissionDenied(fmt::format("{}: {}; set DAVINCI_CACHE_DIR to a writable folder", what,
                                        sqlite3_errstr(code)));
  }
  return Internal(fmt::format("{}: {}", what, sqlite3_errstr(code)));
}

Result<std::unique_ptr<KvCache>> KvCache::Open(const fs::path& file, Options options) {
  if (!options.now_unix_s) {
    options.now_unix_s = [] {
      return std::chrono::duration_cast<std::chrono::seconds>(
                 std::chrono::system_clock::now().time_since_epoch())
          .count();
    };
  }
  if (file.has_parent_path()) DAVINCI_RETURN_IF_ERROR(MakeDirs(file.parent_path()));
  std::unique_ptr<KvCache> cache(new KvCache(file, std::move(options)));
  MutexLock lock(cache->mutex_);
  DAVINCI_RETURN_IF_ERROR(cache->OpenLocked());
  return cache;
}

// Opening creates tables and may move a damaged file away; the lock file keeps processes from doing
// that to the file that another one has just made.
Status KvCache::OpenLocked() {
  const std::string lock_path = file_.string() + ".lock";
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return FromErrno(errno, fmt::format("opening {}", lock_path));
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return FromErrno(errno, fmt::format("locking {}", lock_path));
  }
  Status status = OpenOnce();
  if (!IsDamaged(status)) return status;
  DAVINCI_RETURN_IF_ERROR(MoveAside());
  status = OpenOnce();
  return IsDamaged(status)
             ? Internal(fmt::format("{}: a new cache file is damaged at once; is the disk broken?",
                                    file_.string()))
             : status;
}

Status KvCache::OpenOnce() {
  CloseConnection();
  int code =
      sqlite3_open_v2(file_.c_str(), &db_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  if (code != SQLITE_OK) return SqliteError(code, "opening the cache");
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, options_.busy_timeout_ms);
  // Without WAL (some network file systems) the cache is slower, not wrong.
  code = sqlite3_exec(db_, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", nullptr,
                      nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(code, "opening the cache");
  int64_t version = 0;
  {
    Statement statement(db_, "PRAGMA user_version");
    code = statement.Step();
    if (code != SQLITE_ROW) return SqliteError(code, "reading the cache");
    version = statement.Int(0);
  }
  if (version > kCacheSchemaVersion) {
    CloseConnection();
    return FailedPrecondition(
        fmt::format("{} was written by a newer davinci (format {}, this one knows {}); delete it, "
                    "or set DAVINCI_CACHE_DIR",
                    file_.string(), version, kCacheSchemaVersion));
  }
  if (version < kCacheSchemaVersion) {
    code = sqlite3_exec(db_, fmt::format("BEGIN IMMEDIATE;{}COMMIT;", kSchema).c_str(), nullptr,
                        nullptr, nullptr);
  } else {
    Statement check(db_, "PRAGMA quick_check(1)");
    code = check.Step();
    if (code == SQLITE_ROW) code = check.Text(0) == "ok" ? SQLITE_OK : SQLITE_CORRUPT;
  }
  return code == SQLITE_OK ? Status::Ok() : SqliteError(code, "preparing the cache");
}

Status KvCache::MoveAside() {
  CloseConnection();
  std::error_code ec;
  fs::path aside;
  for (int n = 1;; ++n) {
    aside = fmt::format("{}.damaged-{}", file_.string(), n);
    if (!fs::exists(aside, ec)) break;
  }
  fs::rename(file_, aside, ec);
  if (ec)
    return FromErrno(ec.value(), fmt::format("moving the damaged cache {} aside", file_.string()));
  // The logs belong to the damaged file: replayed into a new one they would damage that too.
  for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(file_.string() + suffix, ec);
  recovery_note_ = fmt::format("the cache {} was damaged; it was moved to {} and starts empty",
                               file_.string(), aside.filename().string());
  return Status::Ok();
}

// Runs `body`; when it meets damage, starts over with an empty file and runs it once more.
template <typename Body>
Status KvCache::WithRecovery(Body body) {
  MutexLock lock(mutex_);
  if (db_ == nullptr) DAVINCI_RETURN_IF_ERROR(OpenLocked());
  Status status = body();
  if (!IsDamaged(status)) return status;
  CloseConnection();
  // Another process may have repaired it already: OpenLocked looks first.
  DAVINCI_RETURN_IF_ERROR(OpenLocked());
  status = body();
  return IsDamaged(status)
             ? Internal(fmt::format("{}: the cache is damaged again; is the disk broken?",
                                    file_.string()))
             : status;
}

Result<std::optional<nlohmann::json>> KvCache::Get(std::string_view space, std::string_view key) {
  std::optional<nlohmann::json> found;
  DAVINCI_RETURN_IF_ERROR(WithRecovery([&]() DAVINCI_REQUIRES(mutex_) {
    found.reset();
    int64_t last_used_unix_s = 0;
    {
      Statement select(
          db_, "SELECT value, digest, last_used_unix_s FROM entries WHERE space = ? AND key = ?");
      const int code = select.Bind(space).Bind(key).Step();
      if (code == SQLITE_DONE) return Status::Ok();
      if (code != SQLITE_ROW) return SqliteError(code, "reading the cache");
      const std::string text = select.Text(0);
      if (select.Text(1) != Digest(space, key, text)) return Status::Ok();  // the next Put mends it
      nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
      if (value.is_discarded()) return Status::Ok();
      found = std::move(value);
      last_used_unix_s = select.Int(2);
    }
    const int64_t now_unix_s = options_.now_unix_s();
    if (now_unix_s - last_used_unix_s >= kTouchEvery_s) {
      // A value that was read is good even when its time cannot be written (read-only or full
      // disk).
      Statement(db_, "UPDATE entries SET last_used_unix_s = ? WHERE space = ? AND key = ?")
          .Bind(now_unix_s)
          .Bind(space)
          .Bind(key)
          .Step();
    }
    return Status::Ok();
  }));
  return found;
}

Status KvCache::Put(std::string_view space, std::string_view key, const nlohmann::json& value) {
  const std::string text = JsonText(value);
  return WithRecovery([&]() DAVINCI_REQUIRES(mutex_) {
    Statement insert(db_, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)");
    const int code = insert.Bind(space)
                         .Bind(key)
                         .Bind(text)
                         .Bind(Digest(space, key, text))
                         .Bind(options_.now_unix_s())
                         .Step();
    return code == SQLITE_DONE ? Status::Ok() : SqliteError(code, "writing the cache");
  });
}

Result<int64_t> KvCache::Count(std::string_view space) {
  int64_t count = 0;
  DAVINCI_RETURN_IF_ERROR(WithRecovery([&]() DAVINCI_REQUIRES(mutex_) {
    Statement select(db_, "SELECT COUNT(*) FROM entries WHERE space = ?");
    const int code = select.Bind(space).Step();
    if (code != SQLITE_ROW) return SqliteError(code, "reading the cache");
    count = select.Int(0);
    return Status::Ok();
  }));
  return count;
}

Result<int64_t> KvCache::Prune(std::string_view space, int64_t max_entries) {
  int64_t removed = 0;
  DAVINCI_RETURN_IF_ERROR(WithRecovery([&]() DAVINCI_REQUIRES(mutex_) {
    Statement prune(
        db_,
        "DELETE FROM entries WHERE space = ?1 AND key IN (SELECT key FROM entries WHERE space = ?1 "
        "ORDER BY last_used_unix_s DESC, key LIMIT -1 OFFSET ?2)");
    const int code = prune.Bind(space).Bind(max_entries).Step();
    if (code != SQLITE_DONE) return SqliteError(code, "writing the cache");
    removed = sqlite3_changes(db_);
    return Status::Ok();
  }));
  return removed;
}

std::string KvCache::recovery_note() const {
  MutexLock lock(mutex_);
  return recovery_note_;
}

}  // namespace davinci::store
