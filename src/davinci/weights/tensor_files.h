// The files of a model while they are written: tensors are announced, each file gets its head, data
// comes in any order, and nothing has its final name before Finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::weights {

class TensorFiles {
 public:
  struct Place {
    size_t file = 0;
    int64_t offset = 0;  // in the data of the file
    int64_t bytes = 0;
    bool written = false;
  };
  using Places = std::map<std::string, Place, std::less<>>;

  TensorFiles() = default;
  TensorFiles(TensorFiles&&) noexcept = default;
  TensorFiles& operator=(TensorFiles&&) = delete;
  // Without Finish(): removes what it has written.
  ~TensorFiles();

  // InvalidArgument where the name is known.
  Status Announce(const std::string& name, size_t file, int64_t offset, int64_t bytes);
  // Creates the next file: `head`, and room for `data_bytes`. ResourceExhausted when the disk has
  // none.
  Status Add(const std::filesystem::path& path, std::string_view head, int64_t data_bytes);
  // The elements of one tensor, row-major. Once for each tensor.
  Status Write(std::string_view name, std::span<const std::byte> data);
  // Gives the files their final names, in order; returns these, without their folder.
  // InvalidArgument when a tensor has not been written.
  Result<std::vector<std::string>> Finish();

  const Places& places() const { return places_; }
  size_t size() const { return files_.size(); }
  std::string NameOf(const Place& place) const;  // of its file

 private:
  struct File {
    UniqueFd file;
    std::filesystem::path temporary;
    std::filesystem::path path;
    int64_t data_begin = 0;  // bytes of the head
  };
  std::vector<File> files_;
  Places places_;
};

}  // namespace davinci::weights
