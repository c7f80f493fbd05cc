#include "davinci/weights/tensor_files.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "davinci/weights/output_file.h"

namespace davinci::weights {

namespace fs = std::filesystem;

TensorFiles::~TensorFiles() {
  std::error_code error;
  for (const File& file : files_)
    if (file.file.valid()) fs::remove(file.temporary, error);
}

Status TensorFiles::Announce(const std::string& name, size_t file, int64_t offset, int64_t bytes) {
  if (!places_.emplace(name, Place{file, offset, bytes, false}).second)
    return InvalidArgument(fmt::format("tensor {} is to be written twice", name));
  return Status::Ok();
}

Status TensorFiles::Add(const fs::path& path, std::string_view head, int64_t data_bytes) {
  File file;
  file.path = path;
  file.data_begin = static_cast<int64_t>(head.size());
  DAVINCI_ASSIGN_OR_RETURN(file.file,
                           CreateOutput(path, file.data_begin + data_bytes, &file.temporary));
  files_.push_back(std::move(file));
  return WriteAt(files_.back().file.get(), 0, std::as_bytes(std::span(head)), path.string());
}

Status TensorFiles::Write(std::string_view name, std::span<const std::byte> data) {
  const auto found = places_.find(name);
  if (found == places_.end())
    return InvalidArgument(fmt::format("tensor {} was not announced", name));
  Place& place = found->second;
  if (place.written) return InvalidArgument(fmt::format("tensor {} is written twice", name));
  if (static_cast<int64_t>(data.size()) != place.bytes)
    return InvalidArgument(
        fmt::format("tensor {}: {} bytes instead of {}", name, data.size(), place.bytes));
  place.written = true;
  const File& file = files_[place.file];
  return WriteAt(file.file.get(), file.data_begin + place.offset, data, file.temporary.string());
}

Result<std::vector<std::string>> TensorFiles::Finish() {
  for (const auto& [name, place] : places_)
    if (!place.written) return InvalidArgument(fmt::format("tensor {} was not written", name));
  std::vector<std::string> names;
  for (File& file : files_) {
    DAVINCI_RETURN_IF_ERROR(FinishOutput(std::move(file.file), file.temporary, file.path));
    names.push_back(file.path.filename().string());
  }
  return names;
}

std::string TensorFiles::NameOf(const Place& place) const {
  return files_[place.file].path.filename().string();
}

}  // namespace davinci::weights
