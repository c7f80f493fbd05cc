// A file in memory, read-only, without reading it: weights are larger than what a copy may cost.
//
// The mapping is private and of the size the file had when it was opened. A file that another
// program shortens while it is mapped ends this process with SIGBUS, as with every program that
// maps weights; a file replaced by rename is safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "davinci/base/status.h"

namespace davinci::weights {

class MappedFile {
 public:
  // NotFound, PermissionDenied, or InvalidArgument for what is not a regular file. An empty file
  // maps to an empty span.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile(std::filesystem::path path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::filesystem::path path_;
  const std::byte* data_;
  size_t size_;
};

}  // namespace davinci::weights
