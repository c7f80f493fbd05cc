// A model from one layout to another: Hugging Face folder or GGUF, either way; a LoRA adapter
// merged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"

namespace davinci::app {

struct ConvertOptions {
  std::filesystem::path from;  // folder or *.gguf
  std::filesystem::path to;    // *.gguf, or a folder
  // Element type of matrices; nothing: the source's, quantized ones BF16. GGUF keeps vectors
  // (norms, biases) in F32 whatever this says, and Q8_0 is for GGUF alone.
  std::optional<weights::DType> dtype;
  int64_t max_file_bytes = int64_t{5} << 30;  // of a shard or part
  std::filesystem::path lora;                 // empty: none
};

// Writes the target whole or not at all, one tensor in memory at a time. The names of its files.
// InvalidArgument: an unsupported model, or something the target's format cannot express.
Result<std::vector<std::string>> ConvertModel(const ConvertOptions& options);

}  // namespace davinci::app
