// ModelConfig from the metadata and the tensors of a GGUF file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/weights/model_config.h"
#include "davinci/weights/rope_frequencies.h"

namespace davinci::weights {
namespace {

constexpr int64_t kLargestGgufSize = int64_t{1} << 28;

// The rule of Llama 3.1 to 3.3, whose parameters a GGUF does not keep. Accepted only if it gives
// every factor of the file.
bool RecogniseLlama3(const std::vector<float>& factors, ModelConfig* config) {
  ModelConfig plain = *config;
  plain.rope_scaling = {};
  ModelConfig guess = *config;
  guess.rope_scaling = {};
  guess.rope_scaling.kind = RopeScaling::Kind::kLlama3;
  guess.rope_scaling.factor = *std::max_element(factors.begin(), factors.end());
  guess.rope_scaling.original_max_positions = 8192;
  const auto without = ComputeRopeFrequencies(plain).inverse;
  const auto with = ComputeRopeFrequencies(guess).inverse;
  for (size_t i = 0; i < factors.size(); ++i)
    if (std::fabs(without[i] / with[i] / factors[i] - 1.0F) > 1e-4F) return false;
  config->rope_scaling = guess.rope_scaling;
  return true;
}

class Keys {
 public:
  Keys(const GgufHeader& header, std::string architecture, std::string where)
      : header_(header), prefix_(std::move(architecture) + "."), where_(std::move(where)) {}

  Status Bad(std::string_view key, std::string_view what) const {
    return InvalidArgument(fmt::format("{}: {}{} {}", where_, prefix_, key, what));
  }
  Result<std::optional<int64_t>> Optional(std::string_view key) const {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, header_.Integer(prefix_ + std::string(key)));
    if (value && (*value < 1 || *value > kLargestGgufSize))
      return Bad(key, fmt::format("is {}, expected 1 to {}", *value, kLargestGgufSize));
    return value;
  }
  Result<int64_t> Size(std::string_view key) const {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, Optional(key));
    if (!value) return Bad(key, "is missing");
    return *value;
  }
  Result<std::optional<double>> Number(std::string_view key) const {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, header_.Number(prefix_ + std::string(key)));
    if (value && !(*value > 0 && std::isfinite(*value))) return Bad(key, "is not above 0");
    return value;
  }
  Result<std::string> Text(std::string_view key) const {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, header_.String(prefix_ + std::string(key)));
    return value.value_or("");
  }

 private:
  const GgufHeader& header_;
  std::string prefix_;
  std::string where_;
};

Status ReadScaling(const Keys& keys, const TensorFile& file, ModelConfig* config) {
  RopeScaling& scaling = config->rope_scaling;
  DAVINCI_ASSIGN_OR_RETURN(const std::string type, keys.Text("rope.scaling.type"));
  DAVINCI_ASSIGN_OR_RETURN(const auto factor, keys.Number("rope.scaling.factor"));
  if (type == "linear" || type == "yarn") {
    if (!factor) return keys.Bad("rope.scaling.factor", "is missing");
    if (*factor < 1) return keys.Bad("rope.scaling.factor", "is below 1");
    scaling.factor = *factor;
    scaling.kind = type == "linear" ? RopeScaling::Kind::kLinear : RopeScaling::Kind::kYarn;
  } else if (!type.empty() && type != "none") {
    return keys.Bad("rope.scaling.type", fmt::format("\"{}\" is not supported", type));
  } else if (factor.value_or(1) != 1) {
    return keys.Bad("rope.scaling.factor", "is set without rope.scaling.type");
  }
  if (type == "yarn") {
    DAVINCI_ASSIGN_OR_RETURN(scaling.original_max_positions,
                             keys.Size("rope.scaling.original_context_length"));
    DAVINCI_ASSIGN_OR_RETURN(const auto attention, keys.Number("rope.scaling.yarn_attn_factor"));
    DAVINCI_ASSIGN_OR_RETURN(const auto fast, keys.Number("rope.scaling.yarn_beta_fast"));
    DAVINCI_ASSIGN_OR_RETURN(const auto slow, keys.Number("rope.scaling.yarn_beta_slow"));
    DAVINCI_ASSIGN_OR_RETURN(const auto extrapolation, keys.Number("rope.scaling.yarn_ext_factor"));
    if (extrapolation.value_or(1) != 1)
      return keys.Bad("rope.scaling.yarn_ext_factor", "other than 1 is not supported");
    // GGUF's factor comes on top of YaRN's own.
    scaling.attention_factor =
        (scaling.factor <= 1 ? 1.0 : 0.1 * std::log(scaling.factor) + 1.0) * attention.value_or(1);
    scaling.beta_fast = fast.value_or(32);
    scaling.beta_slow = slow.value_or(1);
  }
  const std::vector<float>& factors = file.rope_factors();
  if (factors.empty()) return Status::Ok();
  if (scaling.kind != RopeScaling::Kind::kNone)
    return keys.Bad("rope.scaling.type", "and the tensor rope_freqs.weight exclude each other");
  if (factors.size() != static_cast<size_t>(config->head_dim / 2))
    return keys.Bad("rope.dimension_count",
                    fmt::format("does not fit {} factors in rope_freqs.weight", factors.size()));
  for (const float value : factors)
    if (!(value > 0 && std::isfinite(value)))
      return keys.Bad("rope_freqs.weight", "has a factor that is not above 0");
  if (!RecogniseLlama3(factors, config)) {
    scaling.kind = RopeScaling::Kind::kFactors;
    scaling.factors = factors;
  }
  return Status::Ok();
}

Status ReadTokens(const GgufHeader& header, ModelConfig* config) {
  const auto id = [&](std::string_view key) -> Result<int64_t> {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, header.Integer(key));
    if (value.value_or(0) < 0 || value.value_or(0) > kLargestGgufSize)
      return InvalidArgument(fmt::format("{} is {}", key, *value));
    return value.value_or(-1);
  };
  DAVINCI_ASSIGN_OR_RETURN(config->bos_token_id, id("tokenizer.ggml.bos_token_id"));
  DAVINCI_ASSIGN_OR_RETURN(config->pad_token_id, id("tokenizer.ggml.padding_token_id"));
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                          "tokenizer.ggml.eom_token_id"}) {
    DAVINCI_ASSIGN_OR_RETURN(const int64_t token, id(key));
    auto& known = config->eos_token_ids;
    if (token >= 0 && std::find(known.begin(), known.end(), token) == known.end())
      known.push_back(token);
  }
  return Status::Ok();
}

}  // namespace

Result<ModelConfig> ModelConfigFromGguf(const TensorFile& file) {
  if (file.gguf() == nullptr) return InvalidArgument("not a GGUF file");
  const GgufHeader& header = *file.gguf();
  const std::string where = file.files().front()->path().string();
  ModelConfig config;
  DAVINCI_ASSIGN_OR_RETURN(const auto named, header.String("general.architecture"));
  const std::string architecture = named.value_or("");
  if (architecture == "llama")
    config.family = Family::kLlama;
  else if (architecture == "qwen2")
    config.family = Family::kQwen2;
  else if (architecture == "qwen3")
    config.family = Family::kQwen3;
  else
    return InvalidArgument(
        fmt::format("{}: general.architecture \"{}\" is not supported; supported "
                    "are llama, qwen2 and qwen3",
                    where, architecture));
  const Keys keys(header, architecture, where);
  DAVINCI_ASSIGN_OR_RETURN(config.hidden_size, keys.Size("embedding_length"));
  DAVINCI_ASSIGN_OR_RETURN(config.intermediate_size, keys.Size("feed_forward_length"));
  DAVINCI_ASSIGN_OR_RETURN(config.num_layers, keys.Size("block_count"));
  if (config.num_layers > 4096) return keys.Bad("block_count", "is above 4096");
  DAVINCI_ASSIGN_OR_RETURN(config.num_heads, keys.Size("attention.head_count"));
  DAVINCI_ASSIGN_OR_RETURN(const auto kv_heads, keys.Optional("attention.head_count_kv"));
  config.num_kv_heads = kv_heads.value_or(config.num_heads);
  DAVINCI_ASSIGN_OR_RETURN(config.max_positions, keys.Size("context_length"));
  DAVINCI_ASSIGN_OR_RETURN(const auto epsilon, keys.Number("attention.layer_norm_rms_epsilon"));
  if (!epsilon) return keys.Bad("attention.layer_norm_rms_epsilon", "is missing");
  config.rms_norm_eps = *epsilon;
  DAVINCI_ASSIGN_OR_RETURN(const auto theta, keys.Number("rope.freq_base"));
  config.rope_theta = theta.value_or(10000);
  if (!(config.rope_theta > 1)) return keys.Bad("rope.freq_base", "is not above 1");

  DAVINCI_ASSIGN_OR_RETURN(const auto key_length, keys.Optional("attention.key_length"));
  DAVINCI_ASSIGN_OR_RETURN(const auto value_length, keys.Optional("attention.value_length"));
  DAVINCI_ASSIGN_OR_RETURN(const auto rotated, keys.Optional("rope.dimension_count"));
  if (!key_length && config.hidden_size % config.num_heads != 0)
    return keys.Bad("attention.key_length", "is missing");
  config.head_dim = key_length.value_or(config.hidden_size / config.num_heads);
  if (value_length.value_or(config.head_dim) != config.head_dim)
    return keys.Bad("attention.value_length", "differs from key_length, which is not supported");
  if (rotated.value_or(config.head_dim) != config.head_dim)
    return keys.Bad("rope.dimension_count", "differs from the size of a head: not supported");
  if (config.num_heads % config.num_kv_heads != 0 || config.head_dim % 2 != 0 ||
      config.num_heads * config.head_dim > kLargestGgufSize)
    return keys.Bad("attention.head_count", "and head_count_kv or key_length do not fit");
  for (const char* key : {"expert_count", "attention.sliding_window"}) {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, keys.Optional(key));
    if (value) return keys.Bad(key, "is set, which is not supported");
  }

  const auto has = [&](std::string_view name) { return file.Find(name) != nullptr; };
  const Tensor* embedding = file.Find("model.embed_tokens.weight");
  if (embedding == nullptr || embedding->shape.size() != 2)
    return InvalidArgument(fmt::format("{}: no tensor token_embd.weight", where));
  config.vocab_size = embedding->shape[0];
  if (config.vocab_size < 1) return InvalidArgument(fmt::format("{}: no vocabulary", where));
  config.tied_embeddings = !has("lm_head.weight");
  config.qkv_bias = has("model.layers.0.self_attn.q_proj.bias");
  config.o_bias = has("model.layers.0.self_attn.o_proj.bias");
  config.mlp_bias = has("model.layers.0.mlp.down_proj.bias");
  config.qk_norm = has("model.layers.0.self_attn.q_norm.weight");
  if (config.qk_norm != (config.family == Family::kQwen3))
    return InvalidArgument(fmt::format("{}: query and key norms are {} in a {} model", where,
                                       config.qk_norm ? "present" : "missing", architecture));
  if (config.qkv_bias != (config.family == Family::kQwen2) && config.o_bias != config.qkv_bias)
    return InvalidArgument(
        fmt::format("{}: biases of q, k, v without one of o (or the reverse)", where));
  const Tensor* first = file.Find("model.layers.0.self_attn.v_proj.weight");
  const DType stored = first == nullptr ? DType::kF32 : first->dtype;
  config.stored_dtype = stored == DType::kF32 || stored == DType::kBF16 ? stored : DType::kF16;
  DAVINCI_RETURN_IF_ERROR(ReadScaling(keys, file, &config));
  DAVINCI_RETURN_IF_ERROR(ReadTokens(header, &config));
  return config;
}

}  // namespace davinci::weights
