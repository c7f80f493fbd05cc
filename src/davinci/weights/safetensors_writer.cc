#include "davinci/weights/safetensors_writer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"

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
    DAVINCI_RETURN_IF_ERROR(
        writer.files_.Announce(tensor.name, headers.size() - 1, sizes.back(), bytes));
    headers.back()[tensor.name] = {{"dtype", DTypeName(tensor.dtype)},
                                   {"shape", tensor.shape},
                                   {"data_offsets", {sizes.back(), sizes.back() + bytes}}};
    sizes.back() += bytes;
    writer.total_bytes_ += bytes;
  }
  if (headers.empty()) return InvalidArgument("a model without tensors");
  for (size_t i = 0; i < headers.size(); ++i) {
    std::string text = JsonText(headers[i]);
    text.resize((text.size() + 7) / 8 * 8, ' ');  // data aligned to 8 bytes
    std::string head(8, '\0');
    const uint64_t size = text.size();
    std::memcpy(head.data(), &size, 8);
    head += text;
    const std::string name = headers.size() == 1 ? options.stem + ".safetensors"
                                                 : fmt::format("{}-{:05}-of-{:05}.safetensors",
                                                               options.stem, i + 1, headers.size());
    DAVINCI_RETURN_IF_ERROR(writer.files_.Add(folder / name, head, sizes[i]));
  }
  return writer;
}

Result<std::vector<std::string>> SafetensorsWriter::Finish() {
  const std::string index = options_.stem + ".safetensors.index.json";
  DAVINCI_ASSIGN_OR_RETURN(std::vector<std::string> names, files_.Finish());
  std::error_code error;
  // An index of an older, sharded model would win over the file written here.
  if (files_.size() == 1) fs::remove(folder_ / index, error);
  if (files_.size() > 1) {
    ordered_json map = ordered_json::object();
    for (const auto& [name, place] : files_.places()) map[name] = files_.NameOf(place);
    const ordered_json root = {{"metadata", {{"total_size", total_bytes_}}}, {"weight_map", map}};
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(folder_ / index, JsonText(root, 2) + "\n"));
    names.push_back(index);
  }
  return names;
}

}  // namespace davinci::weights
