// Inverse frequencies of RoPE under each kind of scaling. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "davinci/weights/model_config.h"

namespace davinci::weights {

struct RopeFrequencies {
  std::vector<float> inverse;  // head_dim / 2: angle of pair i at position p is p * inverse[i]
  float attention_factor = 1;  // cos and sin are multiplied by it
};

// For a sequence of `length` tokens, which matters for kDynamic alone (0: up to the original
// maximum).
RopeFrequencies ComputeRopeFrequencies(const ModelConfig& config, int64_t length = 0);

}  // namespace davinci::weights
