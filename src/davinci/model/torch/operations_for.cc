#include "davinci/model/torch/operations_for.h"

#include "davinci/model/torch/cpu_operations.h"
#include "davinci/model/torch/cpu_ops.h"

namespace davinci::model {
namespace {

using at::Tensor;

class AtenOperations : public Operations {
 public:
  explicit AtenOperations(const Weights& weights) : weights_(weights) {}

  Tensor Embed(const Tensor& tokens) const override {
    if (!weights_.embedding.defined()) return PackedEmbedOp(weights_.packed_head, tokens);
    return at::embedding(weights_.embedding, tokens);
  }

  Rotation RotationOf(const Tensor& positions) const override {
    return {weights_.cos.index_select(0, positions).unsqueeze(1),
            weights_.signed_sin.index_select(0, positions).unsqueeze(1)};
  }

  Tensor Norm(Tensor* x, const Tensor& weight) const override { return RmsNorm(*x, weight); }

  Tensor Product(const Linear& linear, const Tensor& x) const override {
    Tensor out = at::linear(x, linear.weight, linear.bias);
    for (const LowRank& part : linear.low_rank)
      out.narrow(1, part.begin, part.b.size(0))
          .add_(at::linear(at::linear(x, part.a), part.b), part.scale);
    return out;
  }

  Tensor AddProduct(const Tensor& x, const Linear& linear, const Tensor& y) const override {
    return x + Product(linear, y);
  }

  Tensor Heads(const Layer& layer, int64_t index, Tensor qkv, const Tensor& /*positions*/,
               const Rotation& rotation, Attention& attention) const override {
    const int64_t heads = config().num_heads;
    const int64_t kv_heads = config().num_kv_heads;
    qkv = SplitHeads(qkv, config());
    Tensor qk = qkv.narrow(1, 0, heads + kv_heads);
    if (config().qk_norm)
      qk = at::cat({RmsNorm(qk.narrow(1, 0, heads), layer.q_norm),
                    RmsNorm(qk.narrow(1, heads, kv_heads), layer.k_norm)},
                   1);
    const Tensor turned =
        at::addcmul(qk * rotation.cos, at::roll(qk, {config().head_dim / 2}, {-1}), rotation.sin);
    return attention.Attend(index, turned.narrow(1, 0, heads), turned.narrow(1, heads, kv_heads),
                            qkv.narrow(1, heads + kv_heads, kv_heads));
  }

  Tensor Gated(const Layer& layer, const Tensor& x) const override {
    return SiluMul(Product(layer.gate_up, x));
  }

 protected:
  const weights::ModelConfig& config() const { return weights_.config; }

  Tensor RmsNorm(const Tensor& x, const Tensor& weight) const {
    return at::rms_norm(x, {x.size(-1)}, weight, config().rms_norm_eps);
  }

  Tensor SiluMul(const Tensor& both) const {
    const int64_t wide = config().intermediate_size;
    return at::silu(both.narrow(-1, 0, wide)) * both.narrow(-1, wide, wide);
  }

  const Weights& weights_;
};

class FusedOperations final : public AtenOperations {
 public:
  FusedOperations(const Weights& weights, const FusedOps& fused)
      : AtenOperations(weights), fused_(fused) {}

  Rotation RotationOf(const Tensor& /*positions*/) const override { return {}; }

  Tensor Norm(Tensor* x, const Tensor& weight) const override {
    Tensor out = fused_.Norm(*x, weight, config().rms_norm_eps);
    return out.defined() ? out : RmsNorm(*x, weight);
  }

  Tensor AddProduct(const Tensor& x, const Linear& linear, const Tensor& y) const override {
    // The product's own epilogue adds, before it rounds.
    if (!linear.bias.defined() && linear.low_rank.empty()) return x.addmm_(y, linear.weight.t());
    return x + Product(linear, y);
  }

  Tensor Heads(const Layer& layer, int64_t index, Tensor qkv, const Tensor& positions,
               const Rotation& /*rotation*/, Attention& attention) const override {
    qkv = SplitHeads(qkv, config());
    fused_.Heads(qkv, layer.q_norm, layer.k_norm, config().rms_norm_eps, weights_.cos_sin,
                 positions);
    return AttendAll(attention, index, qkv, config());
  }

  Tensor Gated(const Layer& layer, const Tensor& x) const override {
    return fused_.SiluMul(Product(layer.gate_up, x));
  }

 private:
  const FusedOps& fused_;
};

class TrainOperations final : public AtenOperations {
 public:
  TrainOperations(const Weights& weights, const TrainOps& train)
      : AtenOperations(weights), train_(train) {}

  Rotation RotationOf(const Tensor& positions) const override {
    return train_.CanHeads() ? Rotation{} : AtenOperations::RotationOf(positions);
  }

  Tensor Norm(Tensor* x, const Tensor& weight) const override {
    TrainOps::Normed normed = train_.Norm(*x, weight);
    if (!normed.out.defined()) return RmsNorm(*x, weight);
    *x = std::move(normed.x);
    return normed.out;
  }

  Tensor Heads(const Layer& layer, int64_t index, Tensor qkv, const Tensor& positions,
               const Rotation& rotation, Attention& attention) const override {
    qkv = SplitHeads(qkv, config());
    const TrainOps::Rotated made =
        train_.Heads(qkv, layer.q_norm, layer.k_norm, weights_.cos_sin, positions);
    if (made.q.defined()) return attention.Attend(index, made.q, made.k, made.v);
    return AtenOperations::Heads(layer, index, std::move(qkv), positions, rotation, attention);
  }

  Tensor Gated(const Layer& layer, const Tensor& x) const override {
    const Tensor both = Product(layer.gate_up, x);
    Tensor out = train_.SiluMul(both);
    return out.defined() ? out : SiluMul(both);
  }

 private:
  const TrainOps& train_;
};

}  // namespace

std::unique_ptr<const Operations> OperationsFor(const Weights& weights,
                                                const PassOptions& options) {
  if (weights.device.is_cpu() && !options.differentiable && !c10::GradMode::is_enabled())
    return std::make_unique<CpuOperations>(weights, options);
  if (options.fused != nullptr) return std::make_unique<FusedOperations>(weights, *options.fused);
  if (options.train != nullptr) return std::make_unique<TrainOperations>(weights, *options.train);
  return std::make_unique<AtenOperations>(weights);
}

}  // namespace davinci::model
