// Forward: one pass through the weights. Rows of tokens go through it packed, without padding; how
// a row sees other rows is the business of the Attention it is given. One implementation for
// generation and training, over the operations that fit the pass (operations.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "davinci/model/torch/attention.h"
#include "davinci/model/torch/operations.h"
#include "davinci/model/torch/weights.h"

namespace davinci::model {

class Forward {
 public:
  // Of a pass under the calling thread's gradient mode, unless `options` says that it is
  // differentiable. `weights`, and what `options` points to, must outlive it.
  explicit Forward(const Weights& weights, const PassOptions& options = {});

  // [rows] token ids and positions (int64, on the device) → [rows, hidden], normalised.
  at::Tensor Hidden(const at::Tensor& tokens, const at::Tensor& positions,
                    Attention& attention) const;
  // [rows, hidden] → [rows, vocabulary], as the product gives them.
  at::Tensor RawLogits(const at::Tensor& hidden) const;
  // The same in fp32.
  at::Tensor Logits(const at::Tensor& hidden) const;

  // The parts of Hidden(), for a caller that differentiates them one by one.
  at::Tensor Embed(const at::Tensor& tokens) const;
  Rotation RotationOf(const at::Tensor& positions) const;
  at::Tensor Block(int64_t index, const at::Tensor& x, const at::Tensor& positions,
                   const Rotation& rotation, Attention& attention) const;
  at::Tensor FinalNorm(const at::Tensor& x) const;

 private:
  const Weights& weights_;
  const PassOptions options_;
  const std::unique_ptr<const Operations> operations_;  // refers to both
};

}  // namespace davinci::model
