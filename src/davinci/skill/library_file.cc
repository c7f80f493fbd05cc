#include "davinci/skill/library_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <string>

#include "davinci/base/file_lock.h"
#include "davinci/base/files.h"
#include "davinci/skill/library_schema.h"
#include "davinci/store/sqlite.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using store::SqliteExec;
using store::SqliteFailure;

// Commits of another process are short; a longer wait means that it hangs.
constexpr int kBusyTimeoutMs = 10'000;

// A lock of its own, because closing any descriptor of the database file would drop the locks that
// SQLite holds on it. The file stays; only the lock on it counts.
Result<UniqueFd> TakeWriterLock(const fs::path& file) {
  const std::string path = file.string() + ".writer";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return FromErrno(errno, fmt::format("opening {}", path));
  DAVINCI_ASSIGN_OR_RETURN(const bool locked, TryLockFile(lock.get()));
  if (!locked) {
    char holder[32] = "";
    const ssize_t size = ::pread(lock.get(), holder, sizeof holder - 1, 0);
    return Unavailable(fmt::format(
        "the library {} is being written by another davinci{}; wait until it has finished",
        file.string(), size > 0 ? fmt::format(" (process {})", holder) : ""));
  }
  const std::string self = std::to_string(::getpid());
  // The number is for the message above only: without it that one is shorter.
  if (::ftruncate(lock.get(), 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(lock.get(), self.data(), self.size(), 0);
  return lock;
}

}  // namespace

LibraryFile::~LibraryFile() { sqlite3_close_v2(db_); }

Status LibraryFile::Connect(int flags) {
  const int code = sqlite3_open_v2(name_.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK)
    return SqliteFailure(nullptr, code, fmt::format("opening the library {}", name_));
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  return Status::Ok();
}

Result<std::unique_ptr<LibraryFile>> LibraryFile::OpenForWriting(const fs::path& file) {
  if (file.has_parent_path()) DAVINCI_RETURN_IF_ERROR(MakeDirs(file.parent_path()));
  std::unique_ptr<LibraryFile> opened(new LibraryFile(file.string()));
  DAVINCI_ASSIGN_OR_RETURN(opened->writer_lock_, TakeWriterLock(file));
  DAVINCI_RETURN_IF_ERROR(opened->Connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // Before anything is changed: the file may belong to another program.
  DAVINCI_RETURN_IF_ERROR(LibrarySchemaVersion(opened->db_, opened->name_).status());
  // FULL: a commit that returned survives power loss. Where WAL is not to be had (some network
  // file systems) readers wait for the writer, nothing else.
  DAVINCI_RETURN_IF_ERROR(SqliteExec(opened->db_,
                                     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
                                     fmt::format("opening the library {}", opened->name_)));
  DAVINCI_RETURN_IF_ERROR(MigrateLibrary(opened->db_, opened->name_));
  return opened;
}

Result<std::unique_ptr<LibraryFile>> LibraryFile::OpenForReading(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error))
    return NotFound(fmt::format("{}: no such skill library", file.string()));
  if (fs::is_directory(file, error))
    return InvalidArgument(fmt::format("{} is a folder, not a skill library", file.string()));
  std::unique_ptr<LibraryFile> opened(new LibraryFile(file.string()));
  // SQLite falls back to reading only by itself when the file does not allow more.
  DAVINCI_RETURN_IF_ERROR(opened->Connect(SQLITE_OPEN_READWRITE));
  DAVINCI_ASSIGN_OR_RETURN(const int version, LibrarySchemaVersion(opened->db_, opened->name_));
  if (version < kLibrarySchemaVersion) {
    DAVINCI_ASSIGN_OR_RETURN(const UniqueFd lock, TakeWriterLock(file));
    DAVINCI_RETURN_IF_ERROR(MigrateLibrary(opened->db_, opened->name_));
  }
  DAVINCI_RETURN_IF_ERROR(SqliteExec(opened->db_, "PRAGMA query_only = 1",
                                     fmt::format("opening the library {}", opened->name_)));
  return opened;
}

Result<std::unique_ptr<LibraryFile>> LibraryFile::OpenInMemory() {
  std::unique_ptr<LibraryFile> opened(new LibraryFile(":memory:"));
  DAVINCI_RETURN_IF_ERROR(
      opened->Connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY));
  DAVINCI_RETURN_IF_ERROR(MigrateLibrary(opened->db_, opened->name_));
  return opened;
}

}  // namespace davinci::skill
