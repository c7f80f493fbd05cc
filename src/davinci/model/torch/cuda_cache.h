// CudaCache: keys and values of all positions on a CUDA device, and the attention over them that
// passes are given.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "davinci/model/decode_kernels.h"
#include "davinci/model/pass.h"
#include "davinci/model/torch/attention.h"
#include "davinci/model/torch/cuda_step.h"
#include "davinci/model/torch/weights.h"

namespace davinci::model {

class CudaCache {
 public:
  // Of `model`'s device and type. The position behind the last, `positions`, is where rows without
  // a request write. `kernels` (null: ATen's operations) and `stream`, the current CUDA stream,
  // outlive it.
  CudaCache(const Weights& weights, int64_t positions, const DecodeKernels* kernels, void* stream);

  // Of a layer: [position, kv head, head_dim], for kernels where head_dim needs no padding.
  at::Tensor Keys(int64_t layer) const { return cache_.select(0, layer).select(0, 0); }
  at::Tensor Values(int64_t layer) const { return cache_.select(0, layer).select(0, 1); }
  void Copy(int64_t from, int64_t to, int64_t count);
  int64_t bytes() const { return cache_.numel() * static_cast<int64_t>(cache_.element_size()); }
  // Half precision attends by kernels that read borders on the device; fp32 by operations that need
  // them on the host, so that its steps cannot be captured.
  bool half() const { return half_; }
  double scale() const { return scale_; }

  // Stores rows of k and v at positions `at` (int64, on the device).
  void Keep(int64_t layer, const at::Tensor& at, const at::Tensor& k, const at::Tensor& v);
  // Sequences one after the other: sequence i is rows borders[i] … borders[i + 1] - 1 of q, the
  // last of the lengths[i] positions from starts[i] on.
  struct Sequences {
    std::vector<int64_t> borders, starts, lengths;             // on the host; for fp32
    at::Tensor device_borders, device_starts, device_lengths;  // int32; starts has one more
    int64_t longest_query = 0, longest = 0;                    // or more
  };
  at::Tensor Attend(int64_t layer, const at::Tensor& q, const Sequences& sequences) const;
  // One row a sequence, by the kernels; undefined: there is none for it.
  at::Tensor AttendRows(int64_t layer, const at::Tensor& q, const StepInputs& inputs) const;

 private:
  at::Tensor AttendOneByOne(int64_t layer, const at::Tensor& q, const Sequences& sequences) const;
  at::Tensor Padded(const at::Tensor& x) const;

  const int64_t head_dim_;
  const double scale_;
  const bool half_;
  const int64_t pad_;
  const DecodeKernels* const kernels_;
  void* const stream_;
  at::Tensor cache_;  // [layer, keys | values, position, kv head, head_dim + pad]
};

// Of pieces of prompts, in the order of their rows.
class PrefillAttention final : public Attention {
 public:
  // `at`: where each row goes in the cache (int64, on the device).
  PrefillAttention(CudaCache* cache, std::span<const Chunk> chunks, at::Tensor at);
  at::Tensor Attend(int64_t layer, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v) override;

 private:
  CudaCache& cache_;
  const at::Tensor at_;
  CudaCache::Sequences sequences_;
};

// Of the first `rows` of a step. `inputs` on the device, `host` what they were copied from (read in
// fp32 alone); `query_borders`: int32 [0, 1, …] on the device.
class DecodeAttention final : public Attention {
 public:
  DecodeAttention(CudaCache* cache, const StepInputs& inputs, const StepInputs& host, int64_t rows,
                  const at::Tensor& query_borders, int64_t max_context);
  at::Tensor Attend(int64_t layer, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v) override;

 private:
  CudaCache& cache_;
  const StepInputs& inputs_;
  const at::Tensor at_;
  CudaCache::Sequences sequences_;
};

}  // namespace davinci::model
