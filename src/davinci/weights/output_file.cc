#include "davinci/weights/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace davinci::weights {

namespace fs = std::filesystem;

Result<UniqueFd> CreateOutput(const fs::path& path, int64_t bytes, fs::path* temporary) {
  *temporary =
      path.parent_path() / fmt::format(".{}.{}.partial", path.filename().string(), ::getpid());
  UniqueFd file(::open(temporary->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return FromErrno(errno, temporary->string());
  // Room is taken at once: better now than after an hour. File systems without it do as they can.
  const int error = bytes > 0 ? ::posix_fallocate(file.get(), 0, bytes) : 0;
  if (error == ENOSPC || error == EFBIG || error == EDQUOT) {
    std::error_code ignored;
    fs::remove(*temporary, ignored);
    return FromErrno(error, fmt::format("{} ({} bytes)", path.string(), bytes));
  }
  return file;
}

Status WriteAt(int file, int64_t offset, std::span<const std::byte> data, std::string_view name) {
  while (!data.empty()) {
    const ssize_t written = ::pwrite(file, data.data(), data.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FromErrno(errno, name);
    data = data.subspan(static_cast<size_t>(written));
    offset += written;
  }
  return Status::Ok();
}

Status FinishOutput(UniqueFd file, const fs::path& temporary, const fs::path& path) {
  const auto fail = [&](int error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return FromErrno(error, path.string());
  };
  if (::fsync(file.get()) != 0) return fail(errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail(errno);
  const fs::path parent = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const UniqueFd folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) (void)::fsync(folder.get());
  return Status::Ok();
}

}  // namespace davinci::weights
