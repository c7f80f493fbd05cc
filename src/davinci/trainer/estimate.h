// What a pass costs before it is run: memory and arithmetic. Pure.
#pragma once

#include <cstdint>

#include "davinci/trainer/learner_options.h"
#include "davinci/weights/model_config.h"

namespace davinci::trainer {

struct CostEstimate {
  int64_t parameters = 0;
  int64_t trained_parameters = 0;
  // Bytes: weights and masters, gradients, moments, activations of one pass at its peak.
  int64_t weight_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t moment_bytes = 0;
  int64_t activation_bytes = 0;
  int64_t total_bytes() const {
    return weight_bytes + gradient_bytes + moment_bytes + activation_bytes;
  }
};

// Of one rank. `rows`: tokens of the largest pass. `bf16`: compute. `ranks`: masters and moments
// are divided by it, with ZeRO stage 2 also gradients, but for those of the tensors that a pass
// finishes together.
CostEstimate EstimateMemory(const weights::ModelConfig& config, const LearnerOptions& options,
                            bool bf16, int64_t rows, int ranks = 1);

// Floating-point operations of forward and backward pass over a sequence, without recomputation:
// what MFU is measured against. `head_rows`: tokens that are trained.
double ModelFlops(const weights::ModelConfig& config, int64_t tokens, int64_t head_rows);

}  // namespace davinci::trainer
