#include "davinci/model/torch/weights.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

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

// Returns what the adapter has for the weight `name`; null: nothing.
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

// Tensors of the right shapes, without values.
std::unique_ptr<Weights> Allocated(const weights::ModelConfig& config, at::Device device,
                                   at::ScalarType dtype) {
  auto allocated = std::make_unique<Weights>();
  Weights& weights = *allocated;
  weights.config = config;
  weights.device = device;
  weights.dtype = dtype;
  const auto options = at::TensorOptions().device(device).dtype(dtype);
  const int64_t q = config.num_heads * config.head_dim;
  const int64_t kv = config.num_kv_heads * config.head_dim;
  const auto linear = [&](int64_t out, int64_t in, bool bias) {
    Linear made{at::empty({out, in}, options), {}, {}, {}};
    if (bias) made.bias = at::empty({out}, options);
    return made;
  };
  weights.embedding = at::empty({config.vocab_size, config.hidden_size}, options);
  for (int64_t i = 0; i < config.num_layers; ++i) {
    Layer layer;
    layer.input_norm = at::empty({config.hidden_size}, options);
    layer.qkv = linear(q + 2 * kv, config.hidden_size, config.qkv_bias);
    if (config.qk_norm) {
      layer.q_norm = at::empty({config.head_dim}, options);
      layer.k_norm = at::empty({config.head_dim}, options);
    }
    layer.o = linear(config.hidden_size, q, config.o_bias);
    layer.post_norm = at::empty({config.hidden_size}, options);
    layer.gate_up = linear(2 * config.intermediate_size, config.hidden_size, config.mlp_bias);
    layer.down = linear(config.hidden_size, config.intermediate_size, config.mlp_bias);
    weights.layers.push_back(std::move(layer));
  }
  weights.final_norm = at::empty({config.hidden_size}, options);
  weights.head = config.tied_embeddings
                     ? weights.embedding
                     : at::empty({config.vocab_size, config.hidden_size}, options);
  return allocated;
}

}  // namespace

std::vector<StoredTensor> StoredTensors(const Weights& weights) {
  std::vector<StoredTensor> all;
  const int64_t q = weights.config.num_heads * weights.config.head_dim;
  const int64_t kv = weights.config.num_kv_heads * weights.config.head_dim;
  const int64_t wide = weights.config.intermediate_size;
  int64_t index = -1;
  const auto one = [&](const std::string& name, const Tensor& value) {
    if (value.defined()) all.push_back({value, {{name, 0, value.size(0)}}, index});
  };
  const auto linear = [&](const Linear& from, std::vector<StoredPart> parts) {
    const auto named = [&](const char* suffix) {
      std::vector<StoredPart> made = parts;
      for (StoredPart& part : made) part.name += suffix;
      return made;
    };
    all.push_back({from.weight, named(".weight"), index});
    if (from.bias.defined()) all.push_back({from.bias, named(".bias"), index});
  };
  one("model.embed_tokens.weight", weights.embedding);
  for (const Layer& layer : weights.layers) {
    const std::string prefix = fmt::format("model.layers.{}.", ++index);
    one(prefix + "input_layernorm.weight", layer.input_norm);
    linear(layer.qkv, {{prefix + "self_attn.q_proj", 0, q},
                       {prefix + "self_attn.k_proj", q, kv},
                       {prefix + "self_attn.v_proj", q + kv, kv}});
    one(prefix + "self_attn.q_norm.weight", layer.q_norm);
    one(prefix + "self_attn.k_norm.weight", layer.k_norm);
    linear(layer.o, {{prefix + "self_attn.o_proj", 0, weights.config.hidden_size}});
    one(prefix + "post_attention_layernorm.weight", layer.post_norm);
    linear(layer.gate_up,
           {{prefix + "mlp.gate_proj", 0, wide}, {prefix + "mlp.up_proj", wide, wide}});
    linear(layer.down, {{prefix + "mlp.down_proj", 0, weights.config.hidden_size}});
  }
  index = -1;
  one("model.norm.weight", weights.final_norm);
  if (!weights.config.tied_embeddings) one("lm_head.weight", weights.head);
  return all;
}

std::vector<NamedParameter> ParametersOf(const Weights& weights) {
  std::vector<NamedParameter> all;
  for (const StoredTensor& stored : StoredTensors(weights))
    for (const StoredPart& part : stored.parts)
      all.push_back({part.name, stored.value.narrow(0, part.begin, part.rows)});
  return all;
}

bool AddLowRank(Weights* weights, const std::string& module, const Tensor& a, const Tensor& b,
                double scale) {
  for (const StoredTensor& stored : StoredTensors(*weights))
    for (const StoredPart& part : stored.parts) {
      if (part.name != module + ".weight" || stored.layer < 0 || stored.value.dim() != 2) continue;
      Layer& layer = weights->layers[static_cast<size_t>(stored.layer)];
      for (Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
        if (linear->weight.is_same(stored.value))
          linear->low_rank.push_back({a, b, part.begin, scale});
      return true;
    }
  return false;
}

Result<std::unique_ptr<Weights>> LoadWeights(const weights::ModelConfig& config,
                                             const weights::TensorFile& file, at::Device device,
                                             at::ScalarType dtype,
                                             const weights::LoraAdapter* adapter) {
  if (adapter != nullptr) DAVINCI_RETURN_IF_ERROR(weights::CheckLoraAdapter(*adapter, config));
  auto made = Allocated(config, device, dtype);
  for (const NamedParameter& parameter : ParametersOf(*made)) {
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
  ReservePositions(made.get(), std::min<int64_t>(config.max_positions, 8192));
  return made;
}

std::unique_ptr<Weights> RandomWeights(const weights::ModelConfig& config, at::Device device,
                                       at::ScalarType dtype) {
  auto made = Allocated(config, device, dtype);
  for (NamedParameter& parameter : ParametersOf(*made)) {
    if (parameter.name.ends_with("norm.weight"))
      parameter.value.fill_(1);
    else if (parameter.name.ends_with(".bias"))
      parameter.value.zero_();
    else
      parameter.value.normal_(0, 0.02);
  }
  ReservePositions(made.get(), std::min<int64_t>(config.max_positions, 8192));
  return made;
}

int64_t NumParameters(const Weights& weights) {
  int64_t sum = 0;
  for (const NamedParameter& parameter : ParametersOf(weights)) sum += parameter.value.numel();
  return sum;
}

void ReservePositions(Weights* weights, int64_t positions) {
  if (weights->cos.defined() && weights->cos.size(0) >= positions) return;
  const weights::RopeFrequencies rope = weights::ComputeRopeFrequencies(weights->config);
  const Tensor angles = at::outer(at::arange(positions, at::kFloat), at::tensor(rope.inverse));
  const Tensor cos = angles.cos() * rope.attention_factor;
  const Tensor sin = angles.sin() * rope.attention_factor;
  weights->cos_sin = at::cat({cos, sin}, 1).contiguous().to(weights->device);
  weights->cos = at::cat({cos, cos}, 1).to(weights->dtype).to(weights->device);
  weights->signed_sin = at::cat({-sin, sin}, 1).to(weights->dtype).to(weights->device);
}

void FoldNorms(Weights* weights) {
  const auto fold = [](Tensor* norm, Linear* linear) {
    if (!linear->low_rank.empty()) return;
    linear->weight.mul_(*norm);
    norm->fill_(1);
  };
  for (Layer& layer : weights->layers) {
    fold(&layer.input_norm, &layer.qkv);
    fold(&layer.post_norm, &layer.gate_up);
  }
}

}  // namespace davinci::model
