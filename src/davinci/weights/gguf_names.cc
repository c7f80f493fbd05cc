#include "davinci/weights/gguf_names.h"

#include <algorithm>
#include <array>

namespace davinci::weights {
namespace {

struct Pair {
  std::string_view gguf;
  std::string_view hf;
};

constexpr std::array<Pair, 2> kWhole = {
    {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}}};
constexpr Pair kHead = {"output", "lm_head"};
constexpr std::array<Pair, 11> kLayer = {{{"attn_norm", "input_layernorm"},
                                          {"attn_q", "self_attn.q_proj"},
                                          {"attn_k", "self_attn.k_proj"},
                                          {"attn_v", "self_attn.v_proj"},
                                          {"attn_output", "self_attn.o_proj"},
                                          {"attn_q_norm", "self_attn.q_norm"},
                                          {"attn_k_norm", "self_attn.k_norm"},
                                          {"ffn_norm", "post_attention_layernorm"},
                                          {"ffn_gate", "mlp.gate_proj"},
                                          {"ffn_up", "mlp.up_proj"},
                                          {"ffn_down", "mlp.down_proj"}}};

// Cuts ".weight" or ".bias" off; empty: has neither.
std::string_view Suffix(std::string_view& name) {
  for (const std::string_view suffix : {".weight", ".bias"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
      return suffix;
    }
  }
  return {};
}

std::optional<std::string> Translate(std::string_view name, std::string_view from_layer,
                                     std::string_view to_layer, std::string_view Pair::*from,
                                     std::string_view Pair::*to) {
  const std::string_view suffix = Suffix(name);
  if (suffix.empty()) return std::nullopt;
  const auto join = [&](std::string head, std::string_view rest) {
    head += rest;
    return head += suffix;
  };
  if (name == kHead.*from) return join("", kHead.*to);
  for (const Pair& pair : kWhole)
    if (name == pair.*from) return join("", pair.*to);
  if (!name.starts_with(from_layer)) return std::nullopt;
  name.remove_prefix(from_layer.size());
  const size_t dot = name.find('.');
  if (dot == 0 || dot > 6 || dot == std::string_view::npos) return std::nullopt;
  const std::string_view index = name.substr(0, dot);
  if (!std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  name.remove_prefix(dot + 1);
  for (const Pair& pair : kLayer) {
    if (name != pair.*from) continue;
    std::string head(to_layer);
    head += index;
    return join(head += '.', pair.*to);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> HfNameOf(std::string_view gguf_name) {
  return Translate(gguf_name, "blk.", "model.layers.", &Pair::gguf, &Pair::hf);
}

std::optional<std::string> GgufNameOf(std::string_view hf_name) {
  return Translate(hf_name, "model.layers.", "blk.", &Pair::hf, &Pair::gguf);
}

bool IsQueryOrKey(std::string_view hf_name) {
  return hf_name.find(".self_attn.q_proj.") != std::string_view::npos ||
         hf_name.find(".self_attn.k_proj.") != std::string_view::npos;
}

}  // namespace davinci::weights
