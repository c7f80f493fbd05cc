#include "davinci/model/torch/transformer.h"

#include <sys/mman.h>
#include <unistd.h>

#include "davinci/model/cpu_kernels.h"
#include "davinci/model/torch/cpu_ops.h"
#include "davinci/weights/rope_frequencies.h"

namespace davinci::model {
namespace {

using at::Tensor;

// The file's pages are in memory now; the copy is what is needed.
void ForgetPages(std::span<const std::byte> data) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(data.data());
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + data.size()) / page * page;
  if (end > begin)
    madvise(const_cast<std::byte*>(data.data()) + (begin - first), end - begin, MADV_DONTNEED);
}

Status CopyInto(const weights::Tensor& source, const Tensor& target) {
  Tensor host = target.device().is_cpu()
                    ? target
                    : at::empty(target.sizes(), target.options().device(at::kCPU));
  const auto count = static_cast<size_t>(host.numel());
  if (host.scalar_type() == at::kFloat) {
    DAVINCI_RETURN_IF_ERROR(weights::ReadFloat32(source, {host.data_ptr<float>(), count}));
  } else {
    DAVINCI_RETURN_IF_ERROR(
        weights::ReadBFloat16(source, {static_cast<uint16_t*>(host.data_ptr()), count}));
  }
  if (!target.device().is_cpu()) target.copy_(host);
  ForgetPages(source.data);
  return Status::Ok();
}

// What the adapter has for the weight `name`; null: nothing.
const weights::LoraModule* ModuleOf(const weights::LoraAdapter& adapter, const std::string& name) {
  constexpr std::string_view kSuffix = ".weight";
  if (!name.ends_with(kSuffix)) return nullptr;
  const auto found = adapter.modules.find(name.substr(0, name.size() - kSuffix.size()));
  return found == adapter.modules.end() ? nullptr : &found->second;
}

Status MergeInto(const weights::Tensor& source, const weights::LoraAdapter& adapter,
                 const weights::LoraModule& module, const Tensor& target) {
  Tensor merged = at::empty(target.sizes(), at::kFloat);
  const std::span<float> values(merged.data_ptr<float>(), static_cast<size_t>(merged.numel()));
  DAVINCI_RETURN_IF_ERROR(weights::ReadFloat32(source, values));
  DAVINCI_RETURN_IF_ERROR(weights::MergeLora(adapter, module, values));
  target.copy_(merged);
  ForgetPages(source.data);
  return Status::Ok();
}

std::string ShapeText(at::IntArrayRef shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace

void Transformer::Allocate() {
  const auto options = at::TensorOptions().device(device_).dtype(dtype_);
  const int64_t q = config_.num_heads * config_.head_dim;
  const int64_t kv = config_.num_kv_heads * config_.head_dim;
  const auto linear = [&](int64_t out, int64_t in, bool bias) {
    Linear made{at::empty({out, in}, options), {}, {}, {}};
    if (bias) made.bias = at::empty({out}, options);
    return made;
  };
  embedding_ = at::empty({config_.vocab_size, config_.hidden_size}, options);
  for (int64_t i = 0; i < config_.num_layers; ++i) {
    Layer layer;
    layer.input_norm = at::empty({config_.hidden_size}, options);
    layer.qkv = linear(q + 2 * kv, config_.hidden_size, config_.qkv_bias);
    if (config_.qk_norm) {
      layer.q_norm = at::empty({config_.head_dim}, options);
      layer.k_norm = at::empty({config_.head_dim}, options);
    }
    layer.o = linear(config_.hidden_size, q, config_.o_bias);
    layer.post_norm = at::empty({config_.hidden_size}, options);
    layer.gate_up = linear(2 * config_.intermediate_size, config_.hidden_size, config_.mlp_bias);
    layer.down = linear(config_.hidden_size, config_.intermediate_size, config_.mlp_bias);
    layers_.push_back(std::move(layer));
  }
  final_norm_ = at::empty({config_.hidden_size}, options);
  head_ = config_.tied_embeddings ? embedding_
                                  : at::empty({config_.vocab_size, config_.hidden_size}, options);
}

std::vector<Transformer::Stored> Transformer::StoredTensors() const {
  std::vector<Stored> all;
  const int64_t q = config_.num_heads * config_.head_dim;
  const int64_t kv = config_.num_kv_heads * config_.head_dim;
  const int64_t wide = config_.intermediate_size;
  int64_t index = -1;
  const auto one = [&](const std::string& name, const Tensor& value) {
    if (value.defined()) all.push_back({value, {{name, 0, value.size(0)}}, index});
  };
  const auto linear = [&](const Linear& from, std::vector<Part> parts) {
    const auto named = [&](const char* suffix) {
      std::vector<Part> made = parts;
      for (Part& part : made) part.name += suffix;
      return made;
    };
    all.push_back({from.weight, named(".weight"), index});
    if (from.bias.defined()) all.push_back({from.bias, named(".bias"), index});
  };
  one("model.embed_tokens.weight", embedding_);
  for (const Layer& layer : layers_) {
    const std::string prefix = fmt::format("model.layers.{}.", ++index);
    one(prefix + "input_layernorm.weight", layer.input_norm);
    linear(layer.qkv, {{prefix + "self_attn.q_proj", 0, q},
                       {prefix + "self_attn.k_proj", q, kv},
                       {prefix + "self_attn.v_proj", q + kv, kv}});
    one(prefix + "self_attn.q_norm.weight", layer.q_norm);
    one(prefix + "self_attn.k_norm.weight", layer.k_norm);
    linear(layer.o, {{prefix + "self_attn.o_proj", 0, config_.hidden_size}});
    one(prefix + "post_attention_layernorm.weight", layer.post_norm);
    linear(layer.gate_up,
           {{prefix + "mlp.gate_proj", 0, wide}, {prefix + "mlp.up_proj", wide, wide}});
    linear(layer.down, {{prefix + "mlp.down_proj", 0, config_.hidden_size}});
  }
  index = -1;
  one("model.norm.weight", final_norm_);
  if (!config_.tied_embeddings) one("lm_head.weight", head_);
  return all;
}

std::vector<Transformer::Named> Transformer::Parameters() const {
  std::vector<Named> all;
  for (const Stored& stored : StoredTensors())
    for (const Part& part : stored.parts)
      all.push_back({part.name, stored.value.narrow(0, part.begin, part.rows)});
  return all;
}

bool Transformer::AddLowRank(const std::string& module, const Tensor& a, const Tensor& b,
                             double scale) {
  for (const Stored& stored : StoredTensors())
    for (const Part& part : stored.parts) {
      if (part.name != module + ".weight" || stored.layer < 0 || stored.value.dim() != 2) continue;
      Layer& layer = layers_[static_cast<size_t>(stored.layer)];
      for (Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
        if (linear->weight.is_same(stored.value))
          linear->low_rank.push_back({a, b, part.begin, scale});
      return true;
    }
  return false;
}

Result<std::unique_ptr<Transformer>> Transformer::Load(const weights::ModelConfig& config,
                                                       const weights::TensorFile& file,
                                                       at::Device device, at::ScalarType dtype,
                                                       const weights::LoraAdapter* adapter) {
  if (adapter != nullptr) DAVINCI_RETURN_IF_ERROR(weights::CheckLoraAdapter(*adapter, config));
  std::unique_ptr<Transformer> model(new Transformer(config, device, dtype));
  model->Allocate();
  for (const Named& parameter : model->Parameters()) {
    const weights::Tensor* source = file.Find(parameter.name);
    if (source == nullptr)
      return InvalidArgument(fmt::format("the weights have no tensor {}", parameter.name));
    if (parameter.value.sizes() != at::IntArrayRef(source->shape))
      return InvalidArgument(fmt::format("{}: {} is {}, the configuration makes it {}",
                                         source->file, parameter.name, ShapeText(source->shape),
                                         ShapeText(parameter.value.sizes())));
    const weights::LoraModule* module =
        adapter == nullptr ? nullptr : ModuleOf(*adapter, parameter.name);
    DAVINCI_RETURN_IF_ERROR(module == nullptr
                                ? CopyInto(*source, parameter.value)
                                : MergeInto(*source, *adapter, *module, parameter.value));
  }
  model->ReservePositions(std::min<int64_t>(config.max_positions, 8192));
  return model;
}

std::unique_ptr<Transformer> Transformer::Random(const weights::ModelConfig& config,
                                                 at::Device device, at::ScalarType dtype) {
  std::unique_ptr<Transformer> model(new Transformer(config, device, dtype));
  model->Allocate();
  for (Named& parameter : model->Parameters()) {
    if (parameter.name.ends_with("norm.weight"))
      parameter.value.fill_(1);
    else if (parameter.name.ends_with(".bias"))
      parameter.value.zero_();
    else
      parameter.value.normal_(0, 0.02);
  }
  model->ReservePositions(std::min<int64_t>(config.max_positions, 8192));
  return model;
}

int64_t Transformer::num_parameters() const {
  int64_t sum = 0;
  for (const Named& parameter : Parameters()) sum += parameter.value.numel();
  return sum;
}

int64_t Transformer::num_bytes() const {
  return num_parameters() * static_cast<int64_t>(c10::elementSize(dtype_));
}

void Transformer::ReservePositions(int64_t positions) {
  if (cos_.defined() && cos_.size(0) >= positions) return;
  const weights::RopeFrequencies rope = weights::ComputeRopeFrequencies(config_);
  const Tensor angles = at::outer(at::arange(positions, at::kFloat), at::tensor(rope.inverse));
  const Tensor cos = angles.cos() * rope.attention_factor;
  const Tensor sin = angles.sin() * rope.attention_factor;
  cos_sin_ = at::cat({cos, sin}, 1).contiguous().to(device_);
  cos_ = at::cat({cos, cos}, 1).to(dtype_).to(device_);
  signed_sin_ = at::cat({-sin, sin}, 1).to(dtype_).to(device_);
}

bool Transformer::OnCpuKernels(const PassOptions& options) const {
  return device_.is_cpu() && !options.differentiable && !c10::GradMode::is_enabled();
}

Tensor Transformer::Norm(const Tensor& x, const Tensor& weight, const PassOptions& options) const {
  if (OnCpuKernels(options))
    return tiled_ ? RoundedNormOp(x, weight, config_.rms_norm_eps)
                  : NormOp(x, weight, config_.rms_norm_eps);
  if (options.fused != nullptr) {
    Tensor out = options.fused->Norm(x, weight, config_.rms_norm_eps);
    if (out.defined()) return out;
  }
  return at::rms_norm(x, {x.size(-1)}, weight, config_.rms_norm_eps);
}

Tensor Transformer::NormOfResidual(Tensor* x, const Tensor& weight,
                                   const PassOptions& options) const {
  if (options.train != nullptr) {
    TrainOps::Normed normed = options.train->Norm(*x, weight);
    if (normed.out.defined()) {
      *x = std::move(normed.x);
      return normed.out;
    }
  }
  return Norm(*x, weight, options);
}

bool Transformer::Pack() {
  if (!device_.is_cpu() || layers_.empty()) return false;
  if (PackTiled()) return true;
  const auto linears = [](Layer& layer) {
    return std::array<Linear*, 4>{&layer.qkv, &layer.o, &layer.gate_up, &layer.down};
  };
  // All layers have the same shapes: what the first allows, all do.
  for (const Linear* linear : linears(layers_[0]))
    if (!linear->low_rank.empty() || !PackWeight(linear->weight).matrix.defined()) return false;
  for (Layer& layer : layers_)
    for (Linear* linear : linears(layer)) {
      linear->packed = PackWeight(linear->weight);
      linear->weight = Tensor();
    }
  if (dtype_ == at::kFloat) {
    packed_head_ = PackWeight(head_);
    head_ = Tensor();
    if (config_.tied_embeddings) embedding_ = Tensor();
  }
  return true;
}

void Transformer::FoldNorms() {
  const auto fold = [](Tensor* norm, Linear* linear) {
    if (!linear->low_rank.empty()) return;
    linear->weight.mul_(*norm);
    norm->fill_(1);
  };
  for (Layer& layer : layers_) {
    fold(&layer.input_norm, &layer.qkv);
    fold(&layer.post_norm, &layer.gate_up);
  }
}

bool Transformer::PackTiled() {
  const int64_t q = config_.num_heads * config_.head_dim;
  if (dtype_ != at::kBFloat16 || !HasTiles()) return false;
  for (const int64_t inner : {config_.hidden_size, q, config_.intermediate_size})
    if (inner % kTileInner != 0) return false;
  for (Layer& layer : layers_)
    for (const Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
      if (!linear->low_rank.empty()) return false;
  const auto pack = [](Tensor* weight, TileOrder order) {
    PackedWeight packed = PackTiledWeight(*weight, order);
    *weight = Tensor();
    return packed;
  };
  for (Layer& layer : layers_)
    for (Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
      linear->packed =
          pack(&linear->weight, linear == &layer.gate_up ? TileOrder::kGated : TileOrder::kPlain);
  packed_head_ = pack(&head_, TileOrder::kPlain);
  if (config_.tied_embeddings) embedding_ = Tensor();
  tiled_ = true;
  return true;
}

Tensor Transformer::ApplyTo(const Linear& linear, const Tensor& x, Tensor y, bool add,
                            const PassOptions& options) const {
  const Tensor in = tiled_ && x.scalar_type() == at::kFloat ? RoundOp(x) : x.contiguous();
  const int64_t rows = in.size(0);
  const auto work_per_row = static_cast<double>(linear.packed.matrix.numel());
  const int64_t step = options.pacer == nullptr ? rows : options.pacer->Rows(rows, work_per_row);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    if (options.pacer != nullptr) options.pacer->Between(work_per_row * static_cast<double>(count));
    const auto multiply = tiled_ ? TiledLinearOp : PanelLinearOp;
    multiply(in.narrow(0, begin, count), linear.packed, linear.bias, y.narrow(0, begin, count),
             add);
  }
  return y;
}

Tensor Transformer::ApplyOnCpu(const Linear& linear, const Tensor& x,
                               const PassOptions& options) const {
  if (linear.packed.can_add())
    return ApplyTo(linear, x, at::empty({x.size(0), linear.packed.out}, at::kFloat), false,
                   options);
  const Tensor& matrix = linear.packed.matrix.defined() ? linear.packed.matrix : linear.weight;
  const auto work_per_row = static_cast<double>(matrix.numel());
  const bool by_row = options.row_by_row || x.size(0) <= 4;
  const auto product = [&](const Tensor& rows) {
    if (options.pacer != nullptr)
      options.pacer->Between(work_per_row * static_cast<double>(rows.size(0)));
    if (linear.packed.matrix.defined()) return PackedLinearOp(rows, linear.packed, linear.bias);
    if (by_row) return LinearOp(rows, linear.weight, linear.bias);
    return at::linear(rows.to(dtype_), linear.weight, linear.bias).to(at::kFloat);
  };
  const int64_t rows = x.size(0);
  // at::linear's bits depend on the number of rows: that product is never cut.
  const int64_t step = options.pacer == nullptr || !(linear.packed.matrix.defined() || by_row)
                           ? rows
                           : options.pacer->Rows(rows, work_per_row);
  if (step >= rows) return product(x);
  Tensor out = at::empty({rows, matrix.size(0)}, at::kFloat);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    out.narrow(0, begin, count).copy_(product(x.narrow(0, begin, count)));
  }
  return out;
}

Tensor Transformer::Apply(const Linear& linear, const Tensor& x, const PassOptions& options) const {
  if (OnCpuKernels(options)) return ApplyOnCpu(linear, x, options);
  Tensor out = at::linear(x, linear.weight, linear.bias);
  for (const LowRank& part : linear.low_rank)
    out.narrow(1, part.begin, part.b.size(0))
        .add_(at::linear(at::linear(x, part.a), part.b), part.scale);
  return out;
}

Tensor Transformer::Heads(const Layer& layer, int64_t index, Tensor qkv, const Tensor& positions,
                          const Rotation& rotation, Attention& attention,
                          const PassOptions& options) const {
  const int64_t heads = config_.num_heads;
  const int64_t kv_heads = config_.num_kv_heads;
  qkv = qkv.view({qkv.size(0), heads + 2 * kv_heads, config_.head_dim});
  if (OnCpuKernels(options) || options.fused != nullptr) {
    if (options.fused != nullptr)
      options.fused->Heads(qkv, layer.q_norm, layer.k_norm, config_.rms_norm_eps, cos_sin_,
                           positions);
    else
      HeadsOp(qkv, heads, kv_heads, layer.q_norm, layer.k_norm, config_.rms_norm_eps, cos_sin_,
              positions);
    return attention.Attend(index, qkv.narrow(1, 0, heads), qkv.narrow(1, heads, kv_heads),
                            qkv.narrow(1, heads + kv_heads, kv_heads));
  }
  if (options.train != nullptr) {
    const TrainOps::Rotated made =
        options.train->Heads(qkv, layer.q_norm, layer.k_norm, cos_sin_, positions);
    if (made.q.defined()) return attention.Attend(index, made.q, made.k, made.v);
  }
  Tensor qk = qkv.narrow(1, 0, heads + kv_heads);
  if (config_.qk_norm)
    qk = at::cat({Norm(qk.narrow(1, 0, heads), layer.q_norm, options),
                  Norm(qk.narrow(1, heads, kv_heads), layer.k_norm, options)},
                 1);
  const Tensor turned =
      at::addcmul(qk * rotation.cos, at::roll(qk, {config_.head_dim / 2}, {-1}), rotation.sin);
  return attention.Attend(index, turned.narrow(1, 0, heads), turned.narrow(1, heads, kv_heads),
                          qkv.narrow(1, heads + kv_heads, kv_heads));
}

Tensor Transformer::Gated(const Layer& layer, const Tensor& x, const PassOptions& options) const {
  if (OnCpuKernels(options) && tiled_)
    return ApplyTo(layer.gate_up, x,
                   at::empty({x.size(0), config_.intermediate_size}, at::kBFloat16), false,
                   options);
  const Tensor both = Apply(layer.gate_up, x, options);
  if (OnCpuKernels(options)) return SiluMulOp(both);
  if (options.fused != nullptr) return options.fused->SiluMul(both);
  if (options.train != nullptr) {
    Tensor out = options.train->SiluMul(both);
    if (out.defined()) return out;
  }
  const int64_t wide = config_.intermediate_size;
  return at::silu(both.narrow(-1, 0, wide)) * both.narrow(-1, wide, wide);
}

Tensor Transformer::AddTo(const Tensor& x, const Linear& linear, const Tensor& y,
                          const PassOptions& options) const {
  // The product's own epilogue adds, before it rounds.
  if (options.fused != nullptr && !linear.bias.defined() && linear.low_rank.empty())
    return x.addmm_(y, linear.weight.t());
  if (OnCpuKernels(options) && linear.packed.can_add()) return ApplyTo(linear, y, x, true, options);
  return x + Apply(linear, y, options);
}

Tensor Transformer::Embed(const Tensor& tokens, const PassOptions& options) const {
  if (!embedding_.defined()) return PackedEmbedOp(packed_head_, tokens);
  const Tensor x = at::embedding(embedding_, tokens);
  return OnCpuKernels(options) ? x.to(at::kFloat) : x;
}

Transformer::Rotation Transformer::RotationOf(const Tensor& positions,
                                              const PassOptions& options) const {
  if (OnCpuKernels(options) || options.fused != nullptr ||
      (options.train != nullptr && options.train->CanHeads()))
    return {};
  return {cos_.index_select(0, positions).unsqueeze(1),
          signed_sin_.index_select(0, positions).unsqueeze(1)};
}

Tensor Transformer::Block(int64_t index, const Tensor& x, const Tensor& positions,
                          const Rotation& rotation, Attention& attention,
                          const PassOptions& options) const {
  const Layer& layer = layers_[static_cast<size_t>(index)];
  Tensor residual = x;
  if (options.layers != nullptr &&
      options.layers->Block(index, layer, cos_sin_, positions, &residual))
    return residual;
  const Tensor qkv =
      Apply(layer.qkv, NormOfResidual(&residual, layer.input_norm, options), options);
  const Tensor seen = Heads(layer, index, qkv, positions, rotation, attention, options);
  residual = AddTo(residual, layer.o, seen, options);
  const Tensor normed = NormOfResidual(&residual, layer.post_norm, options);
  return AddTo(residual, layer.down, Gated(layer, normed, options), options);
}

Tensor Transformer::FinalNorm(const Tensor& x, const PassOptions& options) const {
  Tensor residual = x;
  return NormOfResidual(&residual, final_norm_, options);
}

Tensor Transformer::Hidden(const Tensor& tokens, const Tensor& positions, Attention& attention,
                           const PassOptions& options) const {
  Tensor x = Embed(tokens, options);
  const Rotation rotation = RotationOf(positions, options);
  for (int64_t i = 0; i < config_.num_layers; ++i)
    x = Block(i, x, positions, rotation, attention, options);
  return FinalNorm(x, options);
}

Tensor Transformer::RawLogits(const Tensor& hidden, const PassOptions& options) const {
  return Apply({head_, packed_head_, {}, {}}, hidden, options);
}

Tensor Transformer::Logits(const Tensor& hidden, const PassOptions& options) const {
  return RawLogits(hidden, options).to(at::kFloat);
}

}  // namespace davinci::model
