// Tensor names of GGUF files and of Hugging Face checkpoints, for the families of model_config.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davinci::weights {

// "blk.3.attn_q.weight" → "model.layers.3.self_attn.q_proj.weight". Nothing for a name that none of
// the families has. "rope_freqs.weight" has no counterpart: it is part of the configuration.
std::optional<std::string> HfNameOf(std::string_view gguf_name);
// The other direction.
std::optional<std::string> GgufNameOf(std::string_view hf_name);

// True for the weights and biases of q_proj and k_proj. In GGUF files of architecture "llama" the
// rows of each of their heads are interleaved: HF row a * head_dim/2 + b of a head is row 2 * b +
// a.
bool IsQueryOrKey(std::string_view hf_name);

}  // namespace davinci::weights
