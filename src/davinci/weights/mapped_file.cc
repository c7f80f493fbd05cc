#include "davinci/weights/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "davinci/base/unique_fd.h"

namespace davinci::weights {

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return FromErrno(errno, path.string());
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FromErrno(errno, path.string());
  if (!S_ISREG(info.st_mode))
    return InvalidArgument(fmt::format("{}: not a regular file", path.string()));
  const auto size = static_cast<size_t>(info.st_size);
  const std::byte* data = nullptr;
  if (size > 0) {
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (memory == MAP_FAILED) return FromErrno(errno, fmt::format("mapping {}", path.string()));
    data = static_cast<const std::byte*>(memory);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace davinci::weights
