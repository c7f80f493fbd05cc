#include "davinci/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include "davinci/base/mutex.h"
#include "davinci/base/outside.h"

namespace davinci {
namespace fs = std::filesystem;
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // close() may be the call that reports a full disk (NFS, quota), so it is checked before the
  // rename.
  int Close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

int OpenRetry(const char* path, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

Status WriteError(int error, std::string_view what) {
  if (error == ENOSPC || error == EDQUOT) {
    return ResourceExhausted(fmt::format(
        "writing {}: no space left on the device; free some space and try again", what));
  }
  if (error == EFBIG) {
    return ResourceExhausted(
        fmt::format("writing {}: the file-size limit (ulimit -f) was reached", what));
  }
  return FromErrno(error, fmt::format("writing {}", what));
}

Status FsyncFolder(const fs::path& folder) {
  Fd fd(OpenRetry(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) return FromErrno(errno, fmt::format("opening folder {}", folder.string()));
  // Some file systems (and sandboxed mounts) refuse fsync on folders; the rename itself has
  // happened.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return FromErrno(errno, fmt::format("syncing folder {}", folder.string()));
  }
  return Status::Ok();
}

std::string Env(const char* name) {
  const char* value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): setenv is not called after start
  return value == nullptr ? "" : value;
}

// A folder in a world-writable place is ours only if we own it and are its only writer.
Result<fs::path> PrivateTempCache() {
  std::string tmp = Env("TMPDIR");
  fs::path path =
      fs::path(tmp.empty() ? "/tmp" : tmp) / fmt::format("davinci-cache-{}", ::getuid());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return FromErrno(errno, fmt::format("creating cache folder {}", path.string()));
  }
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) {
    return FromErrno(errno, fmt::format("cache folder {}", path.string()));
  }
  if (!S_ISDIR(st.st_mode) || st.st_uid != ::getuid() || (st.st_mode & 0022) != 0) {
    return PermissionDenied(
        fmt::format("{} belongs to another user or is writable by others; set DAVINCI_CACHE_DIR "
                    "to a private folder",
                    path.string()));
  }
  return path;
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path, uint64_t max_bytes) {
  // O_NONBLOCK so that a FIFO cannot hang us before fstat tells what it is; it means nothing for
  // regular files.
  Fd fd(OpenRetry(path.c_str(), O_RDONLY | O_NONBLOCK));
  if (fd.get() < 0) return FromErrno(errno, fmt::format("cannot open {}", path.string()));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return FromErrno(errno, path.string());
  if (S_ISDIR(st.st_mode)) {
    return InvalidArgument(fmt::format("{} is a folder, a file is needed", path.string()));
  }
  if (!S_ISREG(st.st_mode)) {
    return InvalidArgument(fmt::format("{} is not a regular file", path.string()));
  }
  auto too_large = [&] {
    return InvalidArgument(
        fmt::format("{} is larger than the {} bytes allowed here", path.string(), max_bytes));
  };
  if (static_cast<uint64_t>(st.st_size) > max_bytes) return too_large();
  std::string content;
  content.reserve(static_cast<size_t>(st.st_size));
  char buffer[1 << 16];
  // st_size is a hint: files in /proc report 0, and a file may grow while it is read.
  while (true) {
    ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, fmt::format("reading {}", path.string()));
    if (got == 0) break;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > max_bytes) return too_large();
  }
  return content;
}

Status WriteAll(int fd, std::string_view data, std::string_view what) {
  while (!data.empty()) {
    ssize_t put = ::write(fd, data.data(), data.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return WriteError(errno, what);
    data.remove_prefix(static_cast<size_t>(put));
  }
  return Status::Ok();
}

Status WriteFileAtomic(const fs::path& path, std::string_view content, Durability durability,
                       mode_t mode) {
  static std::atomic<uint64_t> counter{0};
  // Same folder as the target: rename must not cross file systems. Pid and counter keep living
  // writers apart; a file of that name can only be left over from a dead process that had our pid.
  fs::path temp = path;
  temp += fmt::format(".tmp-{}-{}", ::getpid(), counter.fetch_add(1));
  ::unlink(temp.c_str());
  Fd fd(OpenRetry(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode));
  if (fd.get() < 0) return WriteError(errno, path.string());
  Status status = WriteAll(fd.get(), content, path.string());
  if (status.ok() && durability == Durability::kDurable && ::fsync(fd.get()) != 0) {
    status = WriteError(errno, path.string());
  }
  if (fd.Close() != 0 && status.ok()) status = WriteError(errno, path.string());
  if (status.ok() && ::rename(temp.c_str(), path.c_str()) != 0) {
    status = WriteError(errno, path.string());
  }
  if (!status.ok()) {
    ::unlink(temp.c_str());
    return status;
  }
  return durability == Durability::kDurable ? FsyncFolder(path.parent_path()) : Status::Ok();
}

Status MakeDirs(const fs::path& path) {
  std::error_code ec;
  fs::create_directories(path, ec);
  if (ec) return FromErrno(ec.value(), fmt::format("creating folder {}", path.string()));
  if (!fs::is_directory(path, ec)) {
    return InvalidArgument(fmt::format("{} exists and is not a folder", path.string()));
  }
  return Status::Ok();
}

Status RemoveAll(const fs::path& path) {
  std::error_code ec;
  fs::remove_all(path, ec);
  if (ec) return FromErrno(ec.value(), fmt::format("removing {}", path.string()));
  return Status::Ok();
}

Result<std::vector<fs::path>> ListFiles(const fs::path& folder, std::string_view suffix,
                                        bool recursive) {
  std::vector<fs::path> files;
  std::vector<fs::path> pending{folder};
  while (!pending.empty()) {
    fs::path current = std::move(pending.back());
    pending.pop_back();
    std::error_code ec;
    fs::directory_iterator it(current, ec);
    if (ec) return FromErrno(ec.value(), fmt::format("cannot list {}", current.string()));
    for (; it != fs::directory_iterator(); it.increment(ec)) {
      if (ec) break;
      fs::file_status st = it->symlink_status(ec);
      std::string name = it->path().filename().string();
      if (fs::is_directory(st)) {
        if (recursive && !name.starts_with('.')) pending.push_back(it->path());
      } else if (fs::is_regular_file(st) && name.ends_with(suffix)) {
        files.push_back(it->path());
      }
    }
    if (ec) return FromErrno(ec.value(), fmt::format("cannot list {}", current.string()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

TempDir::TempDir(TempDir&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    const TempDir old(std::exchange(path_, std::exchange(other.path_, {})), std::move(lock_));
    lock_ = std::move(other.lock_);
  }
  return *this;
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ec;
  fs::remove_all(path_,
                 ec);  // unreported: a leftover is found under the temporary directory
}

fs::path TempDir::Release() {
  lock_.Reset();
  return std::exchange(path_, {});
}

namespace {

// Between the making of a folder and its lock it looks abandoned.
constexpr auto kSurelyLocked = std::chrono::minutes(1);

UniqueFd LockFolder(const fs::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Reset();
  return fd;
}

void RemoveAbandoned(const fs::path& base, std::string_view prefix) {
  constexpr size_t kRandomChars = 6;
  const std::string start = fmt::format("{}-", prefix);
  std::error_code ec;
  for (fs::directory_iterator it(base, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(start) || name.size() != start.size() + kRandomChars) continue;
    struct stat info {};
    if (::lstat(it->path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != ::geteuid())
      continue;
    const auto age =
        std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(info.st_mtime);
    if (age < kSurelyLocked) continue;
    if (const UniqueFd ours = LockFolder(it->path()); ours.valid()) {
      std::error_code ignored;  // another process may be removing it
      fs::remove_all(it->path(), ignored);
    }
  }
}

void RemoveAbandonedOnce(const fs::path& base, std::string_view prefix) {
  static Mutex mutex;
  static std::set<fs::path> done;
  {
    MutexLock lock(mutex);
    if (!done.insert(base / prefix).second) return;
  }
  RemoveAbandoned(base, prefix);
}

}  // namespace

Result<TempDir> MakeTempDir(std::string_view prefix, const fs::path& parent) {
  fs::path base = parent;
  if (base.empty()) {
    std::string tmp = Env("TMPDIR");
    base = tmp.empty() ? "/tmp" : tmp;
    RemoveAbandonedOnce(base, prefix);
  }
  std::string pattern = (base / fmt::format("{}-XXXXXX", prefix)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    int error = errno;
    return FromErrno(
        error, fmt::format("creating a temporary folder in {} (set TMPDIR to a writable folder)",
                           base.string()));
  }
  fs::path folder(pattern);
  UniqueFd lock = LockFolder(folder);
  if (internal::thread_outside != nullptr) internal::thread_outside->MadeFolder(folder);
  return TempDir(std::move(folder), std::move(lock));
}

Result<fs::path> CacheDir(std::string_view sub) {
  fs::path base;
  if (std::string dir = Env("DAVINCI_CACHE_DIR"); !dir.empty()) {
    std::error_code ec;
    base = fs::absolute(dir, ec);
    if (ec) return FromErrno(ec.value(), fmt::format("DAVINCI_CACHE_DIR={}", dir));
  } else if (std::string xdg = Env("XDG_CACHE_HOME"); xdg.starts_with('/')) {
    base = fs::path(xdg) / "davinci";  // the XDG specification says: ignore relative values
  } else if (std::string home = Env("HOME");
             home.starts_with('/') && ::access(home.c_str(), W_OK) == 0) {
    base = fs::path(home) / ".cache" / "davinci";
  } else {
    DAVINCI_ASSIGN_OR_RETURN(base, PrivateTempCache());
  }
  fs::path path = sub.empty() ? base : base / sub;
  if (Status status = MakeDirs(path); !status.ok()) {
    return status.Annotate("no usable cache folder (set DAVINCI_CACHE_DIR to a writable one)");
  }
  return path;
}

}  // namespace davinci
