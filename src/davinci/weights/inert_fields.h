// Fields of config.json that change nothing about the numbers a model computes.
//
// Three kinds: bookkeeping and generation settings of transformers; notes of training tools;
// settings of other architectures at the value that leaves a dense decoder as it is. Any other
// field may matter.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace davinci::weights {

struct ModelConfig;

// `config` has everything but token ids and element type.
bool IsInertField(std::string_view field, const nlohmann::json& value, const ModelConfig& config);

// quantization_config of weights that are not quantized: bitsandbytes with 4 and 8 bits off.
bool IsInertQuantization(const nlohmann::json& value);

}  // namespace davinci::weights
