// The header describes a dense decoder of the Llama, Qwen2 (2.5) or Qwen3 family: its sizes, and
// the tensors it has.
//
// One layer: x += o(attention(rope(norm(q(n))), rope(norm(k(n))), v(n))), n = rms_norm(x);
//            x += down(silu(gate(m)) * up(m)),                            m = rms_norm(x).
// RoPE rotates the pairs (i, i + head_dim/2) of each head, all of head_dim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::weights {

enum class Family { kLlama, kQwen2, kQwen3 };
std::string_view FamilyName(Family family);  // "llama", "qwen2", "qwen3": HF's model_type

struct RopeScaling {
  enum class Kind {
    kNone,
    kLinear,   // positions divided by factor
    kDynamic,  // base grows with the length beyond original_max_positions
    kYarn,
    kLlama3,
    kFactors,  // a GGUF's own list, one divisor for each frequency
  };
  Kind kind = Kind::kNone;
  double factor = 1;
  int64_t original_max_positions = 0;  // kDynamic, kYarn, kLlama3
  double attention_factor = 1;         // kYarn: scale of cos and sin, resolved
  double beta_fast = 32;               // kYarn
  double beta_slow = 1;                // kYarn
  bool truncate = true;                // kYarn: whole dimensions bound the ramp
  double low_freq_factor = 1;          // kLlama3
  double high_freq_factor = 4;         // kLlama3
  std::vector<float> factors;          // kFactors, head_dim / 2 of them
  bool operator==(const RopeScaling&) const = default;
};

struct ModelConfig {
  Family family = Family::kLlama;
  int64_t vocab_size = 0;  // rows of the embedding; may exceed the tokenizer's
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;  // divides num_heads
  int64_t head_dim = 0;      // even; num_heads * head_dim need not be hidden_size
  int64_t max_positions = 0;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000;
  RopeScaling rope_scaling;
  bool qkv_bias = false;
  bool o_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;  // RMSNorm over head_dim of each query and key head, before RoPE
  bool tied_embeddings = false;

  // As the checkpoint names them; -1 and empty: not named. The tokenizer and generation_config.json
  // may name others.
  int64_t bos_token_id = -1;
  int64_t pad_token_id = -1;
  std::vector<int64_t> eos_token_ids;
  DType stored_dtype = DType::kF32;  // F32, F16 or BF16: what the checkpoint declares

  bool operator==(const ModelConfig&) const = default;
};

// Name and shape of every tensor the architecture has, in the order of computation.
struct TensorShape {
  std::string name;
  std::vector<int64_t> shape;
  bool operator==(const TensorShape&) const = default;
};
std::vector<TensorShape> TensorShapes(const ModelConfig& config);
// InvalidArgument when a tensor is missing, has another shape, is not floating, or is none of the
// architecture's ("lm_head.weight" of a tied model, and "*.rotary_emb.inv_freq", may be there).
Status CheckTensors(const ModelConfig& config, const TensorFile& file);

}  // namespace davinci::weights
