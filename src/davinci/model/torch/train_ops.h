// The operations between the matrix products of a pass with gradients, on the kernels of
// train_kernels.h: each is one node of autograd's graph, whose backward pass is a kernel, too. bf16
// on CUDA. An operation that the kernels cannot do for a shape returns undefined tensors; ATen's
// take its place. Results have the same bits whether gradients are enabled or not.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "davinci/model/train_kernels.h"
#include "davinci/weights/model_config.h"

namespace davinci::model {

class TrainOps {
 public:
  // Null, with the reason in `why` (may be null): the device is no CUDA device, or has no NVRTC.
  static std::unique_ptr<TrainOps> Make(const weights::ModelConfig& config, at::Device device,
                                        at::ScalarType dtype, std::string* why);

  // x and its norm. What comes back to both is added up by the kernel of the norm: pass the
  // residual on through `x`.
  struct Normed {
    at::Tensor x, out;
  };
  Normed Norm(const at::Tensor& x, const at::Tensor& weight) const;

  // Of qkv [rows, heads + 2 kv_heads, head_dim], a product's result that nothing else reads: q and
  // k normalised (weights undefined: not) and rotated. May overwrite it.
  struct Rotated {
    at::Tensor q, k, v;
  };
  bool CanHeads() const { return TrainKernels::CanHeads(shape_); }
  Rotated Heads(const at::Tensor& qkv, const at::Tensor& q_norm, const at::Tensor& k_norm,
                const at::Tensor& cos_sin, const at::Tensor& positions) const;

  // [rows, 2 width] → [rows, width]
  at::Tensor SiluMul(const at::Tensor& both) const;

  // Of dense bf16 logits [rows, vocabulary]; without gradients. See TrainKernels::Score.
  bool CanScore(const at::Tensor& logits) const;
  struct Scores {
    at::Tensor log_probs, log_sums;  // fp32 [rows]
    at::Tensor entropies;            // the same, or undefined
  };
  // slopes defined: the logits become derivatives.
  Scores Score(const at::Tensor& logits, const at::Tensor& expected, double temperature,
               const at::Tensor& slopes, bool entropies) const;
  void ScoreBackward(const at::Tensor& logits, const at::Tensor& expected, double temperature,
                     const at::Tensor& slopes, const at::Tensor& log_sums) const;

  // For this library's nodes.
  const TrainKernels& kernels() const { return *kernels_; }
  const TrainKernels::HeadShape& shape() const { return shape_; }
  void* stream() const;

 private:
  TrainOps() = default;
  std::unique_ptr<TrainKernels> kernels_;
  TrainKernels::HeadShape shape_;
  at::Device device_{at::kCPU};
};

}  // namespace davinci::model
