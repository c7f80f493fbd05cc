// A model that has learned nothing: configuration, initial weights and a tokenizer in one folder.
#pragma once

#include <cstdint>
#include <filesystem>

#include "davinci/base/status.h"
#include "davinci/weights/model_config.h"

namespace davinci::trainer {

struct NewModel {
  std::filesystem::path tokenizer;  // folder
  std::filesystem::path out;
  int64_t layers = 8;
  int64_t width = 448;
  int64_t intermediate = 0;  // 0: 3 × width
  int64_t head_size = 64;    // the CUDA kernels of decoding know 64 and 128
  int64_t kv_heads = 0;      // 0: as many as query heads
  int64_t context = 8192;
  uint64_t seed = 1;
};

// Writes a Qwen3 model with tied embeddings: matrices normal with deviation 0.02, those that add to
// the residual stream (o_proj, down_proj) divided by the root of 2 × layers; norms 1. The same bits
// for the same arguments. InvalidArgument: sizes that the kernels of training do not take.
Result<weights::ModelConfig> WriteNewModel(const NewModel& model);

}  // namespace davinci::trainer
