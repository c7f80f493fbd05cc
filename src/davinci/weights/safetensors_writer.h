// Writes safetensors files as Hugging Face keeps them: model.safetensors, or shards with
// model.safetensors.index.json. Names and shapes come first, data in any order afterwards, one
// tensor in memory at a time.
//
// Nothing appears under its final name before Finish(), and without it nothing stays: each shard is
// a temporary neighbour, made durable and renamed; the index comes last, so a reader that goes by
// it never sees half a model. Into a folder that already holds a model, write only if that may be
// lost: shards of the old one are replaced one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"
#include "davinci/weights/tensor_files.h"

namespace davinci::weights {

struct TensorSpec {
  std::string name;
  DType dtype = DType::kBF16;
  std::vector<int64_t> shape;
};

struct SafetensorsOptions {
  int64_t max_shard_bytes = int64_t{5} << 30;  // of data; a larger tensor has a shard of its own
  std::string stem = "model";                  // "adapter_model" for LoRA
  std::map<std::string, std::string> metadata = {{"format", "pt"}};  // what transformers expects
};

class SafetensorsWriter {
 public:
  // Creates `folder` and the temporary files. InvalidArgument for duplicate names and quantized
  // types; ResourceExhausted when the disk has no room.
  static Result<SafetensorsWriter> Create(const std::filesystem::path& folder,
                                          const std::vector<TensorSpec>& tensors,
                                          const SafetensorsOptions& options = {});

  // The elements of one tensor, row-major. Once for each tensor.
  Status Write(std::string_view name, std::span<const std::byte> data) {
    return files_.Write(name, data);
  }
  // InvalidArgument when a tensor has not been written. The names of the files, index included.
  Result<std::vector<std::string>> Finish();

 private:
  SafetensorsWriter() = default;

  std::filesystem::path folder_;
  SafetensorsOptions options_;
  TensorFiles files_;
  int64_t total_bytes_ = 0;
};

}  // namespace davinci::weights
