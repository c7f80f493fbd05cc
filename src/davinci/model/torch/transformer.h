// The layers of a dense decoder-only transformer. One implementation for generation and training:
// rows of tokens go through it packed, without padding; how a row sees other rows is the business
// of the Attention it is given.
//
// With gradients enabled every operation is differentiable: ATen's, or one of train_ops.h. Without
// them, on the CPU, activations are fp32 and small row counts use cpu_kernels.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/model/pacer.h"
#include "davinci/model/torch/cpu_ops.h"
#include "davinci/model/torch/train_ops.h"
#include "davinci/weights/lora_adapter.h"
#include "davinci/weights/model_config.h"
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

// How the rows of one pass attend. Called once a layer, in order.
class Attention {
 public:
  virtual ~Attention() = default;
  // q: [rows, heads, head_dim], k and v: [rows, kv_heads, head_dim]; normalised and rotated. The
  // last two dimensions are dense, rows may lie apart. Returns [rows, heads * head_dim].
  virtual at::Tensor Attend(int64_t layer, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v) = 0;
};

// Of half precision on CUDA. kCudnn is faster from Hopper on; its gradients do not have the same
// bits twice.
enum class AttentionKernel { kFlash, kCudnn };

// Whether cuDNN attends with heads of this shape on this device.
bool CanCudnn(const weights::ModelConfig& config, const at::Device& device);

// Whole sequences one after the other, each causal within itself: row borders[i] is the first of
// sequence i, the last border is the number of rows. Differentiable; a graph must not outlive it.
std::unique_ptr<Attention> PackedCausal(const weights::ModelConfig& config,
                                        std::vector<int64_t> borders, const at::Device& device,
                                        AttentionKernel kernel = AttentionKernel::kFlash);

// Operations of a layer that a device has a kernel of its own for. No gradients.
class FusedOps {
 public:
  virtual ~FusedOps() = default;
  // qkv: [rows, heads + 2 kv_heads, head_dim], dense; normalises q and k heads (undefined: not) and
  // rotates them in place. cos_sin: fp32 [positions, cos | sin].
  virtual void Heads(const at::Tensor& qkv, const at::Tensor& q_norm, const at::Tensor& k_norm,
                     double eps, const at::Tensor& cos_sin, const at::Tensor& positions) const = 0;
  // RMS norm of each row; undefined: there is none for rows of this size.
  virtual at::Tensor Norm(const at::Tensor& x, const at::Tensor& weight, double eps) const = 0;
  // [rows, 2 width] → [rows, width]
  virtual at::Tensor SiluMul(const at::Tensor& both) const = 0;
};

// Whole layers of a pass, for a device that has kernels of its own for them. No gradients.
class LayerOps {
 public:
  virtual ~LayerOps() = default;
  // Layer `index` of the pass: replaces *x, [rows, hidden], whose memory may be overwritten. False:
  // not this layer, and *x is as it was.
  virtual bool Block(int64_t index, const Layer& layer, const at::Tensor& cos_sin,
                     const at::Tensor& positions, at::Tensor* x) const = 0;
};

struct PassOptions {
  const LayerOps* layers = nullptr;  // null: operation by operation. These attend, too.
  const FusedOps* fused = nullptr;   // null: ATen's operations
  // The same for passes with gradients, whether gradients are enabled or not.
  const TrainOps* train = nullptr;
  // The operations of a pass with gradients, whether gradients are enabled or not: what is computed
  // twice has the same bits twice.
  bool differentiable = false;
  // CPU without gradients: every row is computed as if it were alone (cpu_kernels.h), also where a
  // blocked matrix product would be faster.
  bool row_by_row = false;
  // CPU: gives way between matrix products and cuts long ones; null: not.
  Pacer* pacer = nullptr;
};

class Transformer {
 public:
  // Reads all weights. `dtype`: kFloat or kBFloat16. Frees what it read from the files' mapping as
  // it goes. InvalidArgument: a tensor is missing or has another shape than the config says.
  // `adapter` (may be null) is merged into the weights, in fp32, before they are rounded to
  // `dtype`.
  static Result<std::unique_ptr<Transformer>> Load(const weights::ModelConfig& config,
                                                   const weights::TensorFile& file,
                                                   at::Device device, at::ScalarType dtype,
                                                   const weights::LoraAdapter* adapter = nullptr);

  // Normal weights with standard deviation 0.02, norms 1, biases 0.
  static std::unique_ptr<Transformer> Random(const weights::ModelConfig& config, at::Device device,
                                             at::ScalarType dtype);

  // CPU: brings weights, one by one, into the layout of a product that computes each row as if it
  // were alone: for all weights in fp32 panels and in bf16 tiles, where the CPU has their
  // registers; else oneDNN's, for the layers'. True: all rows of all passes are computed so from
  // now on. Without gradients and StoredTensors() from then on.
  bool Pack();
  // Whether Pack() chose tiles: then activations are rounded to bf16 where they enter a product.
  bool tiled() const { return tiled_; }

  // Multiplies the weights of a layer's two norms into the columns of the products behind them,
  // rounded to the weights' type, and makes them one: then a norm is a factor of each row, which
  // may be applied behind a product without bias. Layers with low-rank additions stay as they are.
  // Without gradients and StoredTensors() from then on.
  void FoldNorms();

  // [rows] token ids and positions (int64, on the device) → [rows, hidden], normalised.
  at::Tensor Hidden(const at::Tensor& tokens, const at::Tensor& positions, Attention& attention,
                    const PassOptions& options = {}) const;
  // [rows, hidden] → [rows, vocabulary], as the product gives them.
  at::Tensor RawLogits(const at::Tensor& hidden, const PassOptions& options = {}) const;
  // The same in fp32.
  at::Tensor Logits(const at::Tensor& hidden, const PassOptions& options = {}) const;

  // The parts of Hidden(), for a caller that differentiates them one by one.
  struct Rotation {
    at::Tensor cos, sin;  // undefined where the CPU kernels rotate
  };
  at::Tensor Embed(const at::Tensor& tokens, const PassOptions& options = {}) const;
  Rotation RotationOf(const at::Tensor& positions, const PassOptions& options = {}) const;
  at::Tensor Block(int64_t index, const at::Tensor& x, const at::Tensor& positions,
                   const Rotation& rotation, Attention& attention,
                   const PassOptions& options = {}) const;
  at::Tensor FinalNorm(const at::Tensor& x, const PassOptions& options = {}) const;

  // A tensor as it is stored, and which of its rows are which parameters of a Hugging Face
  // checkpoint.
  struct Part {
    std::string name;
    int64_t begin = 0;
    int64_t rows = 0;
  };
  struct Stored {
    at::Tensor value;
    std::vector<Part> parts;
    int64_t layer = -1;  // -1: outside of the layers
  };
  // In a fixed order; a tied lm_head is left out.
  std::vector<Stored> StoredTensors() const;
  const at::Tensor& embedding() const { return embedding_; }
  const at::Tensor& head() const { return head_; }
  // Adds to the rows of `module` ("model.layers.0.self_attn.q_proj"); false: no such linear layer.
  bool AddLowRank(const std::string& module, const at::Tensor& a, const at::Tensor& b,
                  double scale);

  // A parameter as a Hugging Face checkpoint has it: "model.layers.0.self_attn.q_proj.weight" is a
  // view of a part of the layer's qkv. In a fixed order; a tied lm_head is left out.
  struct Named {
    std::string name;
    at::Tensor value;
  };
  std::vector<Named> Parameters() const;

  const weights::ModelConfig& config() const { return config_; }
  at::Device device() const { return device_; }
  at::ScalarType dtype() const { return dtype_; }
  int64_t num_parameters() const;
  int64_t num_bytes() const;
  // Of the tables of RoPE: positions 0 … positions - 1 can be computed. Grows them; not while a
  // pass runs. Load() makes them for config().max_positions or 8192, the smaller.
  void ReservePositions(int64_t positions);

 private:
  Transformer(weights::ModelConfig config, at::Device device, at::ScalarType dtype)
      : config_(std::move(config)), device_(device), dtype_(dtype) {}
  void Allocate();
  at::Tensor Norm(const at::Tensor& x, const at::Tensor& weight, const PassOptions& options) const;
  // The same; from here on `*x` is the residual.
  at::Tensor NormOfResidual(at::Tensor* x, const at::Tensor& weight,
                            const PassOptions& options) const;
  at::Tensor Apply(const Linear& linear, const at::Tensor& x, const PassOptions& options) const;
  at::Tensor ApplyOnCpu(const Linear& linear, const at::Tensor& x,
                        const PassOptions& options) const;
  // TiledLinearOp() or PanelLinearOp() in pieces that the pacer allows; returns y.
  at::Tensor ApplyTo(const Linear& linear, const at::Tensor& x, at::Tensor y, bool add,
                     const PassOptions& options) const;
  bool PackTiled();
  // Normalises and rotates the heads of one pass and attends.
  at::Tensor Heads(const Layer& layer, int64_t index, at::Tensor qkv, const at::Tensor& positions,
                   const Rotation& rotation, Attention& attention,
                   const PassOptions& options) const;
  // x + linear(y). With `fused`, tiles and panels x may be overwritten, which saves a pass.
  at::Tensor AddTo(const at::Tensor& x, const Linear& linear, const at::Tensor& y,
                   const PassOptions& options) const;
  // silu(gate) * up
  at::Tensor Gated(const Layer& layer, const at::Tensor& x, const PassOptions& options) const;
  bool OnCpuKernels(const PassOptions& options) const;

  const weights::ModelConfig config_;
  const at::Device device_;
  const at::ScalarType dtype_;
  at::Tensor embedding_;  // [vocabulary, hidden]
  std::vector<Layer> layers_;
  at::Tensor final_norm_;
  at::Tensor head_;  // [vocabulary, hidden]; tied: the same as embedding_
  // With tiles and panels: instead of head_, and tied, of embedding_.
  PackedWeight packed_head_;
  bool tiled_ = false;
  at::Tensor cos_sin_;           // fp32 [positions, cos | sin of head_dim / 2]
  at::Tensor cos_, signed_sin_;  // [positions, head_dim]: both halves; -sin | sin
};

}  // namespace davinci::model
