// CudaSampler: draws the tokens of a step from its logits on a CUDA device.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "davinci/model/decode_kernels.h"
#include "davinci/model/pass.h"
#include "davinci/model/torch/cuda_step.h"

namespace davinci::model {

class CudaSampler {
 public:
  // Draws with `inputs` into `drawn`, both on the device. `kernels` (null: ATen's operations) and
  // `stream`, the current CUDA stream, outlive it.
  CudaSampler(const DecodeKernels* kernels, void* stream, StepInputs inputs, Drawn drawn)
      : kernels_(kernels), stream_(stream), inputs_(std::move(inputs)), drawn_(std::move(drawn)) {}

  // For the first rows, as if none were restricted, from logits as the product gives them
  // (`kernels`) or in fp32. Can be captured into a graph.
  void DrawUnrestricted(const at::Tensor& logits) const;

  // The likeliest tokens of each row, as many as the row wants that wants most; undefined: none
  // wants any.
  struct Alternatives {
    at::Tensor logprobs, ids;
  };
  // Finishes the drawing of `rows` from `logits`. `drawn`: DrawUnrestricted() has been called.
  Alternatives Finish(const at::Tensor& logits, std::span<const DrawRow> rows, bool drawn) const;

 private:
  void Launch(const at::Tensor& logits, const at::Tensor& inverse_temperature) const;
  void DrawScaled(const at::Tensor& scaled) const;

  const DecodeKernels* const kernels_;
  void* const stream_;
  const StepInputs inputs_;
  const Drawn drawn_;
};

}  // namespace davinci::model
