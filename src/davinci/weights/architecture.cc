#include "davinci/weights/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace davinci::weights {

std::string_view FamilyName(Family family) {
  switch (family) {
    case Family::kLlama:
      return "llama";
    case Family::kQwen2:
      return "qwen2";
    case Family::kQwen3:
      return "qwen3";
  }
  return "?";
}

std::vector<TensorShape> TensorShapes(const ModelConfig& config) {
  const int64_t hidden = config.hidden_size;
  const int64_t q = config.num_heads * config.head_dim;
  const int64_t kv = config.num_kv_heads * config.head_dim;
  std::vector<TensorShape> shapes = {{"model.embed_tokens.weight", {config.vocab_size, hidden}}};
  for (int64_t layer = 0; layer < config.num_layers; ++layer) {
    const std::string head = fmt::format("model.layers.{}.", layer);
    const auto linear = [&](std::string_view name, int64_t out, int64_t in, bool bias) {
      shapes.push_back({fmt::format("{}{}.weight", head, name), {out, in}});
      if (bias) shapes.push_back({fmt::format("{}{}.bias", head, name), {out}});
    };
    shapes.push_back({head + "input_layernorm.weight", {hidden}});
    linear("self_attn.q_proj", q, hidden, config.qkv_bias);
    linear("self_attn.k_proj", kv, hidden, config.qkv_bias);
    linear("self_attn.v_proj", kv, hidden, config.qkv_bias);
    if (config.qk_norm) {
      shapes.push_back({head + "self_attn.q_norm.weight", {config.head_dim}});
      shapes.push_back({head + "self_attn.k_norm.weight", {config.head_dim}});
    }
    linear("self_attn.o_proj", hidden, q, config.o_bias);
    shapes.push_back({head + "post_attention_layernorm.weight", {hidden}});
    linear("mlp.gate_proj", config.intermediate_size, hidden, config.mlp_bias);
    linear("mlp.up_proj", config.intermediate_size, hidden, config.mlp_bias);
    linear("mlp.down_proj", hidden, config.intermediate_size, config.mlp_bias);
  }
  shapes.push_back({"model.norm.weight", {hidden}});
  if (!config.tied_embeddings) shapes.push_back({"lm_head.weight", {config.vocab_size, hidden}});
  return shapes;
}

Status CheckTensors(const ModelConfig& config, const TensorFile& file) {
  const std::string where =
      file.files().empty() ? "" : file.files().front()->path().string() + ": ";
  const std::vector<TensorShape> shapes = TensorShapes(config);
  std::set<std::string_view> known;
  for (const TensorShape& expected : shapes) {
    known.insert(expected.name);
    const Tensor* tensor = file.Find(expected.name);
    if (tensor == nullptr)
      return InvalidArgument(fmt::format("{}tensor {} is missing", where, expected.name));
    if (tensor->shape != expected.shape)
      return InvalidArgument(fmt::format("{}tensor {} has shape [{}], the configuration says [{}]",
                                         where, expected.name, fmt::join(tensor->shape, ", "),
                                         fmt::join(expected.shape, ", ")));
    if (!IsFloating(tensor->dtype))
      return InvalidArgument(fmt::format("{}tensor {} is {}, not floating", where, expected.name,
                                         DTypeName(tensor->dtype)));
  }
  for (const Tensor& tensor : file.tensors()) {
    if (known.contains(tensor.name) || tensor.name.ends_with(".rotary_emb.inv_freq") ||
        (config.tied_embeddings && tensor.name == "lm_head.weight"))
      continue;
    return InvalidArgument(
        fmt::format("{}tensor {} is not part of a {} model with this configuration", where,
                    tensor.name, FamilyName(config.family)));
  }
  return Status::Ok();
}

}  // namespace davinci::weights
