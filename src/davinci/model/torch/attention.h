// Attention: how the rows of a pass see each other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "davinci/weights/architecture.h"

namespace davinci::model {

// Attention says how the rows of one pass attend. It is called once a layer, in order.
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

// Returns whether cuDNN attends with heads of this shape on this device.
bool CanCudnn(const weights::ModelConfig& config, const at::Device& device);

// Whole sequences one after the other, each causal within itself: row borders[i] is the first of
// sequence i, the last border is the number of rows. Differentiable; a graph must not outlive it.
std::unique_ptr<Attention> PackedCausal(const weights::ModelConfig& config,
                                        std::vector<int64_t> borders, const at::Device& device,
                                        AttentionKernel kernel = AttentionKernel::kFlash);

}  // namespace davinci::model
