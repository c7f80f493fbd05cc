#include "davinci/model/torch/forward.h"

#include "davinci/model/torch/operations_for.h"

namespace davinci::model {

using at::Tensor;

Forward::Forward(const Weights& weights, const PassOptions& options)
    : weights_(weights), options_(options), operations_(OperationsFor(weights_, options_)) {}

Tensor Forward::Embed(const Tensor& tokens) const { return operations_->Embed(tokens); }

Rotation Forward::RotationOf(const Tensor& positions) const {
  return operations_->RotationOf(positions);
}

Tensor Forward::Block(int64_t index, const Tensor& x, const Tensor& positions,
                      const Rotation& rotation, Attention& attention) const {
  const Operations& ops = *operations_;
  const Layer& layer = weights_.layers[static_cast<size_t>(index)];
  Tensor residual = x;
  if (options_.layers != nullptr &&
      options_.layers->Block(index, layer, weights_.cos_sin, positions, &residual))
    return residual;
  const Tensor qkv = ops.Product(layer.qkv, ops.Norm(&residual, layer.input_norm));
  const Tensor seen = ops.Heads(layer, index, qkv, positions, rotation, attention);
  residual = ops.AddProduct(residual, layer.o, seen);
  const Tensor normed = ops.Norm(&residual, layer.post_norm);
  return ops.AddProduct(residual, layer.down, ops.Gated(layer, normed));
}

Tensor Forward::FinalNorm(const Tensor& x) const {
  Tensor residual = x;
  return operations_->Norm(&residual, weights_.final_norm);
}

Tensor Forward::Hidden(const Tensor& tokens, const Tensor& positions, Attention& attention) const {
  Tensor x = Embed(tokens);
  const Rotation rotation = RotationOf(positions);
  for (int64_t i = 0; i < weights_.config.num_layers; ++i)
    x = Block(i, x, positions, rotation, attention);
  return FinalNorm(x);
}

Tensor Forward::RawLogits(const Tensor& hidden) const {
  return operations_->Product({weights_.head, weights_.packed_head, {}, {}}, hidden);
}

Tensor Forward::Logits(const Tensor& hidden) const { return RawLogits(hidden).to(at::kFloat); }

}  // namespace davinci::model
