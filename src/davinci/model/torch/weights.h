// Weights: the parameters of a dense decoder-only transformer as a device holds them. A plain
// record; loading, naming and re-arranging them are functions. forward.h computes with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/model/torch/cpu_ops.h"
#include "davinci/weights/architecture.h"
#include "davinci/weights/lora_adapter.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::model {

// A low-rank addition to some output rows of a linear layer: scale * b * a.
struct LowRank {
  at::Tensor a;  // [rank, in]
  at::Tensor b;  // [rows, rank]
  int64_t begin = 0;
  double scale = 1;
};

// One linear layer; q, k and v are one, and so are gate and up.
struct Linear {
  at::Tensor weight;  // [out, in]; undefined where there is a `packed`
  PackedWeight packed;
  at::Tensor bias;  // [out], or undefined
  std::vector<LowRank> low_rank;
};

struct Layer {
  at::Tensor input_norm;      // [hidden]
  Linear qkv;                 // [(heads + 2 kv_heads) head_dim, hidden]
  at::Tensor q_norm, k_norm;  // [head_dim], or undefined
  Linear o;
  at::Tensor post_norm;
  Linear gate_up;  // [2 intermediate, hidden]
  Linear down;
};

struct Weights {
  weights::ModelConfig config;
  at::Device device{at::kCPU};
  at::ScalarType dtype = at::kFloat;

  at::Tensor embedding;  // [vocabulary, hidden]
  std::vector<Layer> layers;
  at::Tensor final_norm;
  at::Tensor head;  // [vocabulary, hidden]; tied: the same as embedding
  // With tiles and panels: instead of head, and tied, of embedding.
  PackedWeight packed_head;
  // PackWeights() sets it where it chose tiles: then activations are rounded to bf16 where they
  // enter a product.
  bool tiled = false;

  // Tables of RoPE, by ReservePositions().
  at::Tensor cos_sin;          // fp32 [positions, cos | sin of head_dim / 2]
  at::Tensor cos, signed_sin;  // [positions, head_dim]: both halves; -sin | sin
};

// Reads all weights. `dtype`: kFloat or kBFloat16. Frees what it read from the files' mapping as it
// goes. InvalidArgument: a tensor is missing or has another shape than the config says. `adapter`
// (may be null) is merged into the weights, in fp32, before they are rounded to `dtype`.
Result<std::unique_ptr<Weights>> LoadWeights(const weights::ModelConfig& config,
                                             const weights::TensorFile& file, at::Device device,
                                             at::ScalarType dtype,
                                             const weights::LoraAdapter* adapter = nullptr);

// Normal weights with standard deviation 0.02, norms 1, biases 0.
std::unique_ptr<Weights> RandomWeights(const weights::ModelConfig& config, at::Device device,
                                       at::ScalarType dtype);

// Makes the tables of RoPE large enough: positions 0 … positions - 1 can be computed. Not while a
// pass runs. Loading makes them for config.max_positions or 8192, the smaller.
void ReservePositions(Weights* weights, int64_t positions);

// A tensor as it is stored, and which of its rows are which parameters of a Hugging Face
// checkpoint.
struct StoredPart {
  std::string name;
  int64_t begin = 0;
  int64_t rows = 0;
};
struct StoredTensor {
  at::Tensor value;
  std::vector<StoredPart> parts;
  int64_t layer = -1;  // -1: outside of the layers
};
// In a fixed order; a tied lm_head is left out. Not of packed or folded weights.
std::vector<StoredTensor> StoredTensors(const Weights& weights);

// A parameter as a Hugging Face checkpoint has it: "model.layers.0.self_attn.q_proj.weight" is a
// view of a part of the layer's qkv.
struct NamedParameter {
  std::string name;
  at::Tensor value;
};
// In the order of StoredTensors().
std::vector<NamedParameter> ParametersOf(const Weights& weights);
int64_t NumParameters(const Weights& weights);

// Adds to the rows of `module` ("model.layers.0.self_attn.q_proj"); false: no such linear layer.
bool AddLowRank(Weights* weights, const std::string& module, const at::Tensor& a,
                const at::Tensor& b, double scale);

// CPU: brings weights, one by one, into the layout of a product that computes each row as if it
// were alone: for all weights in fp32 panels and in bf16 tiles, where the CPU has their registers;
// else oneDNN's, for the layers'. True: all rows of all passes are computed so from now on. Without
// gradients from then on.
bool PackWeights(Weights* weights);

// Multiplies the weights of a layer's two norms into the columns of the products behind them,
// rounded to the weights' type, and makes them one: then a norm is a factor of each row, which may
// be applied behind a product without bias. Layers with low-rank additions stay as they are.
// Without gradients from then on.
void FoldNorms(Weights* weights);

}  // namespace davinci::model
