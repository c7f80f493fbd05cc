#include "davinci/model/torch/cpu_operations.h"

#include <algorithm>

#include "davinci/model/torch/cpu_ops.h"

namespace davinci::model {

using at::Tensor;

Tensor CpuOperations::Embed(const Tensor& tokens) const {
  if (!weights_.embedding.defined()) return PackedEmbedOp(weights_.packed_head, tokens);
  return at::embedding(weights_.embedding, tokens).to(at::kFloat);
}

Tensor CpuOperations::Norm(Tensor* x, const Tensor& weight) const {
  const double eps = weights_.config.rms_norm_eps;
  return weights_.tiled ? RoundedNormOp(*x, weight, eps) : NormOp(*x, weight, eps);
}

Tensor CpuOperations::Store(const Linear& linear, const Tensor& x, Tensor y, bool add) const {
  const Tensor in = weights_.tiled && x.scalar_type() == at::kFloat ? RoundOp(x) : x.contiguous();
  const int64_t rows = in.size(0);
  const auto work_per_row = static_cast<double>(linear.packed.matrix.numel());
  const int64_t step = options_.pacer == nullptr ? rows : options_.pacer->Rows(rows, work_per_row);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    if (options_.pacer != nullptr)
      options_.pacer->Between(work_per_row * static_cast<double>(count));
    const auto multiply = weights_.tiled ? TiledLinearOp : PanelLinearOp;
    multiply(in.narrow(0, begin, count), linear.packed, linear.bias, y.narrow(0, begin, count),
             add);
  }
  return y;
}

Tensor CpuOperations::Product(const Linear& linear, const Tensor& x) const {
  if (linear.packed.can_add())
    return Store(linear, x, at::empty({x.size(0), linear.packed.out}, at::kFloat), false);
  const Tensor& matrix = linear.packed.matrix.defined() ? linear.packed.matrix : linear.weight;
  const auto work_per_row = static_cast<double>(matrix.numel());
  const bool by_row = options_.row_by_row || x.size(0) <= 4;
  const auto product = [&](const Tensor& rows) {
    if (options_.pacer != nullptr)
      options_.pacer->Between(work_per_row * static_cast<double>(rows.size(0)));
    if (linear.packed.matrix.defined()) return PackedLinearOp(rows, linear.packed, linear.bias);
    if (by_row) return LinearOp(rows, linear.weight, linear.bias);
    return at::linear(rows.to(weights_.dtype), linear.weight, linear.bias).to(at::kFloat);
  };
  const int64_t rows = x.size(0);
  // at::linear's bits depend on the number of rows: that product is never cut.
  const int64_t step = options_.pacer == nullptr || !(linear.packed.matrix.defined() || by_row)
                           ? rows
                           : options_.pacer->Rows(rows, work_per_row);
  if (step >= rows) return product(x);
  Tensor out = at::empty({rows, matrix.size(0)}, at::kFloat);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    out.narrow(0, begin, count).copy_(product(x.narrow(0, begin, count)));
  }
  return out;
}

Tensor CpuOperations::AddProduct(const Tensor& x, const Linear& linear, const Tensor& y) const {
  if (linear.packed.can_add()) return Store(linear, y, x, true);
  return x + Product(linear, y);
}

Tensor CpuOperations::Heads(const Layer& layer, int64_t index, Tensor qkv, const Tensor& positions,
                            const Rotation& /*rotation*/, Attention& attention) const {
  const weights::ModelConfig& config = weights_.config;
  qkv = SplitHeads(qkv, config);
  HeadsOp(qkv, config.num_heads, config.num_kv_heads, layer.q_norm, layer.k_norm,
          config.rms_norm_eps, weights_.cos_sin, positions);
  return AttendAll(attention, index, qkv, config);
}

Tensor CpuOperations::Gated(const Layer& layer, const Tensor& x) const {
  if (weights_.tiled)
    return Store(layer.gate_up, x,
                 at::empty({x.size(0), weights_.config.intermediate_size}, at::kBFloat16), false);
  return SiluMulOp(Product(layer.gate_up, x));
}

}  // namespace davinci::model
