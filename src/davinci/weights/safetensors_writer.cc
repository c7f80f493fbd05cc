#include "davinci/weights/safetensors_writer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/weights/output_file.h"

namespace davinci::weights {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

Result<SafetensorsWriter> SafetensorsWriter::Create(const fs::path& folder,
                                                    const std::vector<TensorSpec>& tensors,
                                                    const SafetensorsOptions& options) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  SafetensorsWriter writer;
  writer.folder_ = folder;
  writer.options_ = options;
  std::vector<ordered_json> headers;
  std::vector<int64_t> sizes;
  for (const TensorSpec& tensor : tensors) {
    if (IsQuantized(tensor.dtype))
      return InvalidArgument(
          fmt::format("{}: safetensors cannot hold {}", tensor.name, DTypeName(tensor.dtype)));
    DAVINCI_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(tensor.dtype, tensor.shape));
    if (headers.empty() || (sizes.back() > 0 && sizes.back() + bytes > options.max_shard_bytes)) {
      headers.emplace_back();
      for (const auto& [key, value] : options.metadata) headers.back()["__metadata__"][key] = value;
      sizes.push_back(0);
    }
    const Place place{headers.size() - 1, sizes.back(), bytes, false};
    if (!writer.places_.emplace(tensor.name, place).second)
      return InvalidArgument(fmt::format("tensor {} is to be written twice", tensor.name));
    headers.back()[tensor.name] = {{"dtype", DTypeName(tensor.dtype)},
                                   {"shape", tensor.shape},
                                   {"data_offsets", {sizes.back(), sizes.back() + bytes}}};
    sizes.back() += bytes;
    writer.total_bytes_ += bytes;
  }
  if (headers.empty()) return InvalidArgument("a model without tensors");
  std::vector<int64_t> data_begins;
  for (size_t i = 0; i < headers.size(); ++i) {
    std::string text = JsonText(headers[i]);
    text.resize((text.size() + 7) / 8 * 8, ' ');  // data aligned to 8 bytes
    std::string head(8, '\0');
    const uint64_t size = text.size();
    std::memcpy(head.data(), &size, 8);
    head += text;
    Shard shard;
    shard.name = headers.size() == 1 ? options.stem + ".safetensors"
                                     : fmt::format("{}-{:05}-of-{:05}.safetensors", options.stem,
                                                   i + 1, headers.size());
    DAVINCI_ASSIGN_OR_RETURN(
        shard.file, CreateOutput(folder / shard.name, static_cast<int64_t>(head.size()) + sizes[i],
                                 &shard.temporary));
    writer.shards_.push_back(std::move(shard));
    DAVINCI_RETURN_IF_ERROR(WriteAt(writer.shards_.back().file.get(), 0,
                                    std::as_bytes(std::span(head)), folder.string()));
    data_begins.push_back(static_cast<int64_t>(head.size()));
  }
  for (auto& [name, place] : writer.places_) place.offset += data_begins[place.shard];
  return writer;
}

SafetensorsWriter::~SafetensorsWriter() {
  std::error_code error;
  for (const Shard& shard : shards_)
    if (shard.file.valid()) fs::remove(shard.temporary, error);
}

Status SafetensorsWriter::Write(std::string_view name, std::span<const std::byte> data) {
  const auto found = places_.find(name);
  if (found == places_.end())
    return InvalidArgument(fmt::format("tensor {} was not announced", name));
  Place& place = found->second;
  if (place.written) return InvalidArgument(fmt::format("tensor {} is written twice", name));
  if (static_cast<int64_t>(data.size()) != place.bytes)
    return InvalidArgument(
        fmt::format("tensor {}: {} bytes instead of {}", name, data.size(), place.bytes));
  place.written = true;
  const Shard& shard = shards_[place.shard];
  return WriteAt(shard.file.get(), place.offset, data, shard.temporary.string());
}

Result<std::vector<std::string>> SafetensorsWriter::Finish() {
  for (const auto& [name, place] : places_)
    if (!place.written) return InvalidArgument(fmt::format("tensor {} was not written", name));
  std::vector<std::string> names;
  const std::string index = options_.stem + ".safetensors.index.json";
  std::error_code error;
  // An index of an older, sharded model would win over the file written here.
  if (shards_.size() == 1) fs::remove(folder_ / index, error);
  for (Shard& shard : shards_) {
    DAVINCI_RETURN_IF_ERROR(
        FinishOutput(std::move(shard.file), shard.temporary, folder_ / shard.name));
    names.push_back(shard.name);
  }
  if (shards_.size() > 1) {
    ordered_json map = ordered_json::object();
    for (const auto& [name, place] : places_) map[name] = shards_[place.shard].name;
    const ordered_json root = {{"metadata", {{"total_size", total_bytes_}}}, {"weight_map", map}};
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(folder_ / index, JsonText(root, 2) + "\n"));
    names.push_back(index);
  }
  return names;
}

}  // namespace davinci::weights
