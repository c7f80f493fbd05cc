// What a step on a CUDA device reads and gives back: tensors that are views of one buffer each, so
// that one copy brings or takes them. For CudaExecutor and its parts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "davinci/base/status.h"

namespace davinci::model {

// One value per row.
struct StepInputs {
  at::Tensor tokens, positions, at;       // int64
  at::Tensor sources;                     // int64: row of the last step whose token goes in, or -1
  at::Tensor noise, inverse_temperature;  // float
  at::Tensor top_p, min_p;                // float; 1 and 0: no restriction
  at::Tensor top_k;                       // int64; the vocabulary's size or more: no restriction
  at::Tensor starts, lengths;             // int32; starts has one more
  at::Tensor greedy;                      // bool

  // `bytes`: NumBytes(rows) of them.
  static StepInputs Slice(const at::Tensor& bytes, int64_t rows);
  static int64_t NumBytes(int64_t rows);
};

struct Drawn {
  at::Tensor tokens;    // int64 [rows]
  at::Tensor logprobs;  // float [rows]

  static Drawn Slice(const at::Tensor& bytes, int64_t rows);
  static int64_t NumBytes(int64_t rows) { return 12 * rows; }
  Drawn First(int64_t rows) const {
    return {tokens.narrow(0, 0, rows), logprobs.narrow(0, 0, rows)};
  }
};

// Throws c10::Error; the engine makes a Status of it.
void CheckLaunch(const Status& status);

}  // namespace davinci::model
