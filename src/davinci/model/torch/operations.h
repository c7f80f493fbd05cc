// Operations: what the layers of a pass are made of. Forward (forward.h) is written over them once;
// where a pass runs, and whether it has gradients, decides which set it uses:
//
//   AtenOperations    ATen's, differentiable: of any device, and what the others fall back to
//   CpuOperations     cpu_kernels.h, without gradients: activations are fp32
//   FusedOperations   FusedOps of a device, without gradients
//   TrainOperations   train_ops.h, differentiable
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "davinci/model/pacer.h"
#include "davinci/model/torch/attention.h"
#include "davinci/model/torch/train_ops.h"
#include "davinci/model/torch/weights.h"

namespace davinci::model {

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

// Of the positions of a pass; undefined where Heads() rotates without them.
struct Rotation {
  at::Tensor cos, sin;
};

class Operations {
 public:
  virtual ~Operations() = default;

  // [rows] token ids → [rows, hidden]
  virtual at::Tensor Embed(const at::Tensor& tokens) const = 0;
  virtual Rotation RotationOf(const at::Tensor& positions) const = 0;
  // Of a residual: what is added to later is `*x` as this leaves it.
  virtual at::Tensor Norm(at::Tensor* x, const at::Tensor& weight) const = 0;
  virtual at::Tensor Product(const Linear& linear, const at::Tensor& x) const = 0;
  // x + linear(y); x may be overwritten.
  virtual at::Tensor AddProduct(const at::Tensor& x, const Linear& linear,
                                const at::Tensor& y) const = 0;
  // Normalises and rotates the heads of one layer and attends.
  virtual at::Tensor Heads(const Layer& layer, int64_t index, at::Tensor qkv,
                           const at::Tensor& positions, const Rotation& rotation,
                           Attention& attention) const = 0;
  // silu(gate) * up
  virtual at::Tensor Gated(const Layer& layer, const at::Tensor& x) const = 0;
};

// Implementations share these: [rows, heads + 2 kv_heads, head_dim], and attention over its parts.
at::Tensor SplitHeads(const at::Tensor& qkv, const weights::ModelConfig& config);
at::Tensor AttendAll(Attention& attention, int64_t index, const at::Tensor& qkv,
                     const weights::ModelConfig& config);

}  // namespace davinci::model
