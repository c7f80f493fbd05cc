#include "davinci/store/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "davinci/base/file_lock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;

// Offset behind the last '\n' of the first `size_bytes` bytes, 0 when there is none.
Result<int64_t> EndOfCompleteLines(int fd, int64_t size_bytes, const fs::path& path) {
  char buffer[4096];
  int64_t end = size_bytes;
  while (end > 0) {
    const auto length = static_cast<size_t>(std::min<int64_t>(end, sizeof(buffer)));
    const int64_t start = end - static_cast<int64_t>(length);
    const ssize_t got = ::pread(fd, buffer, length, start);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(length))
      return FromErrno(got < 0 ? errno : EIO, "reading " + path.string());
    const size_t newline = std::string_view(buffer, length).rfind('\n');
    if (newline != std::string_view::npos) return start + static_cast<int64_t>(newline) + 1;
    end = start;
  }
  return int64_t{0};
}

}  // namespace

Journal::Journal(fs::path path, UniqueFd fd, int64_t size_bytes)
    : path_(std::move(path)), fd_(std::move(fd)), size_bytes_(size_bytes) {}

Result<std::unique_ptr<Journal>> Journal::Open(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!fd.valid())
    return FromErrno(errno, fmt::format("cannot open the journal {}", path.string()));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return FromErrno(errno, path.string());
  if (!S_ISREG(st.st_mode)) {
    return InvalidArgument(fmt::format("the journal {} is not a regular file", path.string()));
  }
  DAVINCI_ASSIGN_OR_RETURN(const bool locked, TryLockFile(fd.get()));
  if (!locked) {
    return Unavailable(
        fmt::format("another process is writing {}; wait for it, or choose another file (to find "
                    "it: fuser {})",
                    path.string(), path.string()));
  }
  // The size is meaningful only under the writer's lock.
  if (::fstat(fd.get(), &st) != 0) return FromErrno(errno, path.string());
  DAVINCI_ASSIGN_OR_RETURN(const int64_t end, EndOfCompleteLines(fd.get(), st.st_size, path));
  if (end != st.st_size && ::ftruncate(fd.get(), end) != 0) {
    return FromErrno(errno, fmt::format("cutting the torn last line of {}", path.string()));
  }
  return std::unique_ptr<Journal>(new Journal(path, std::move(fd), end));
}

Result<JournalContent> Journal::Read(const fs::path& path) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  JournalContent content;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) {
      content.torn_tail = true;
      break;
    }
    const std::string_view record = rest.substr(0, newline);
    rest.remove_prefix(newline + 1);
    nlohmann::json parsed = nlohmann::json::parse(record, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_discarded()) {
      content.damaged_lines.push_back(line);
    } else {
      content.records.push_back(std::move(parsed));
    }
  }
  return content;
}

int64_t Journal::size_bytes() {
  MutexLock lock(mutex_);
  return size_bytes_;
}

Status Journal::Append(const nlohmann::json& record) {
  // dump() escapes line breaks, so a record is one line whatever is in it.
  const std::string line = JsonText(record) + '\n';
  MutexLock lock(mutex_);
  DAVINCI_RETURN_IF_ERROR(broken_);
  Status status = WriteAll(fd_.get(), line, path_.string());
  if (status.ok() && ::fdatasync(fd_.get()) != 0) {
    status = FromErrno(errno, fmt::format("syncing {}", path_.string()));
  }
  if (status.ok()) {
    size_bytes_ += static_cast<int64_t>(line.size());
    return status;
  }
  if (::ftruncate(fd_.get(), size_bytes_) != 0) {
    // A half line followed by a whole one would damage both.
    broken_ = Internal(
        fmt::format("{} cannot be written any more: {}", path_.string(), status.message()));
  }
  return status;
}

}  // namespace davinci::store
