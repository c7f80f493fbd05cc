// Reads and writes a ModelConfig (architecture.h): config.json, or the metadata of a GGUF file.
//
// Nothing is guessed: an unknown architecture, a field that may matter (inert_fields.h), a
// missing field without a documented default, or a value that asks for something unsupported is an
// InvalidArgument that names file and field.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/weights/architecture.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::weights {

// A folder with config.json, a config.json, or a GGUF file. For a folder without config.json but
// with a GGUF: that. eos_token_ids also has those of generation_config.json beside a config.json.
Result<ModelConfig> LoadModelConfig(const std::filesystem::path& path);

// The text of a config.json; `name` is what errors call it.
Result<ModelConfig> ParseModelConfig(std::string_view text, std::string_view name);
// Metadata of a GGUF. `tensors` decides what metadata does not say: biases, q/k norms, tied
// embeddings, vocabulary size, RoPE factors. Factors that Llama 3.x's rule gives (low 1, high 4,
// original length 8192) become kLlama3.
Result<ModelConfig> ModelConfigFromGguf(const TensorFile& file);

// A config.json that transformers 4.40 and later load. InvalidArgument for kFactors, which it
// cannot express.
Result<nlohmann::ordered_json> ToHfConfig(const ModelConfig& config);

}  // namespace davinci::weights
