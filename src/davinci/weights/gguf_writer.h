// Writes GGUF version 3, in one file or split ("name-00001-of-00003.gguf"). As with
// SafetensorsWriter: names and shapes first, data in any order, nothing under its final name before
// Finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/model_config.h"
#include "davinci/weights/safetensors_writer.h"
#include "davinci/weights/tensor_files.h"

namespace davinci::weights {

// u32, f32, bool, string, and arrays of strings and of i32.
using GgufMetadataValue = std::variant<uint32_t, float, bool, std::string, std::vector<std::string>,
                                       std::vector<int32_t>>;
using GgufMetadata = std::vector<std::pair<std::string, GgufMetadataValue>>;

class GgufWriter {
 public:
  // Tensors by their GGUF names, F32, F16, BF16 or Q8_0. `max_part_bytes` of a file: more makes
  // parts.
  static Result<GgufWriter> Create(const std::filesystem::path& path, const GgufMetadata& metadata,
                                   const std::vector<TensorSpec>& tensors,
                                   int64_t max_part_bytes = int64_t{1} << 62);

  Status Write(std::string_view name, std::span<const std::byte> data) {
    return files_.Write(name, data);
  }
  // The names of the files.
  Result<std::vector<std::string>> Finish() { return files_.Finish(); }

 private:
  GgufWriter() = default;
  TensorFiles files_;
};

// The metadata of `config` ("llama.block_count", …). InvalidArgument for what GGUF cannot express:
// dynamic RoPE scaling, and YaRN with truncate off.
Result<GgufMetadata> GgufMetadataOf(const ModelConfig& config, std::string_view name);
// The factors of "rope_freqs.weight"; empty unless RoPE scaling is kLlama3 or kFactors.
std::vector<float> GgufRopeFactors(const ModelConfig& config);

// `values`, a tensor called `hf_name`, in GGUF's order of rows: q and k of a llama model are
// interleaved (gguf_names.h), all others stay.
std::vector<float> InGgufOrder(const ModelConfig& config, std::string_view hf_name,
                               std::vector<float> values);

}  // namespace davinci::weights
