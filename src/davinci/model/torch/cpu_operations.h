// Operations on the CPU without gradients (cpu_ops.h): activations are fp32, and products read
// packed weights where there are any.
#pragma once

#include "davinci/model/torch/operations.h"

namespace davinci::model {

class CpuOperations final : public Operations {
 public:
  CpuOperations(const Weights& weights, const PassOptions& options)
      : weights_(weights), options_(options) {}

  at::Tensor Embed(const at::Tensor& tokens) const override;
  Rotation RotationOf(const at::Tensor& /*positions*/) const override { return {}; }
  at::Tensor Norm(at::Tensor* x, const at::Tensor& weight) const override;
  at::Tensor Product(const Linear& linear, const at::Tensor& x) const override;
  at::Tensor AddProduct(const at::Tensor& x, const Linear& linear,
                        const at::Tensor& y) const override;
  at::Tensor Heads(const Layer& layer, int64_t index, at::Tensor qkv, const at::Tensor& positions,
                   const Rotation& rotation, Attention& attention) const override;
  at::Tensor Gated(const Layer& layer, const at::Tensor& x) const override;

 private:
  // TiledLinearOp() or PanelLinearOp() in pieces that the pacer allows; returns y.
  at::Tensor Store(const Linear& linear, const at::Tensor& x, at::Tensor y, bool add) const;

  const Weights& weights_;
  const PassOptions& options_;
};

}  // namespace davinci::model
