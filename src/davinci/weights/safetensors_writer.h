// Writes safetensors files as Hugging Face keeps them: model.safetensors, or shards with
// model.safetensors.index.json. Names and shapes come first, data in any order afterwards, one
// tensor in memory at a time.
//
// Nothing appears under its final name before Finish(): each shard is a temporary neighbour, made
// durable and renamed; the index comes last, so a reader that goes by it never sees half a model.
// Into a folder that already holds a model, write only if that may be lost: shards of the old one
// are replaced one by one.
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
#include "davinci/base/unique_fd.h"
#include "davinci/weights/dtype.h"

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
  SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
  SafetensorsWriter& operator=(SafetensorsWriter&&) = delete;
  // Without Finish(): removes what it has written.
  ~SafetensorsWriter();

  // The elements of one tensor, row-major. Once for each tensor.
  Status Write(std::string_view name, std::span<const std::byte> data);
  // InvalidArgument when a tensor has not been written. The names of the files, index included.
  Result<std::vector<std::string>> Finish();

 private:
  struct Shard {
    UniqueFd file;
    std::filesystem::path temporary;
    std::string name;
  };
  struct Place {
    size_t shard = 0;
    int64_t offset = 0;
    int64_t bytes = 0;
    bool written = false;
  };
  SafetensorsWriter() = default;

  std::filesystem::path folder_;
  SafetensorsOptions options_;
  std::vector<Shard> shards_;
  std::map<std::string, Place, std::less<>> places_;
  int64_t total_bytes_ = 0;
};

}  // namespace davinci::weights
