// The CUDA kernels of the embedded model (kernels/decode.cu), compiled at run time by NVRTC for one
// device and one shape of attention. No torch: pointers are addresses on the device, the stream is
// a CUDA stream of the primary context, which must be current on the calling thread. Launches only
// enqueue, so they can be captured into a graph; the object must outlive the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/kernel_library.h"

namespace davinci::model {

class DecodeKernels {
 public:
  struct Shape {
    int heads = 0;
    int kv_heads = 0;
    int head_dim = 0;
  };
  // `directories` are searched for NVRTC first. kNotFound where there is none.
  static Result<std::unique_ptr<DecodeKernels>> Load(int ordinal, Shape shape,
                                                     std::vector<std::string> directories);
  // What NVRTC gets for `shape`.
  static std::string Source(const Shape& shape);

  // out[r] = sources[r] >= 0 ? drawn[sources[r]] : tokens[r]
  Status Feed(void* stream, const int64_t* tokens, const int64_t* sources, const int64_t* drawn,
              int64_t* out, int64_t rows) const;
  // qkv: bf16 [rows, heads + 2 kv_heads, head_dim], dense. Normalises q and k heads (null: not) and
  // rotates them in place. cos_sin: fp32 [positions, cos | sin].
  Status Heads(void* stream, void* qkv, const void* q_norm, const void* k_norm, float eps,
               const float* cos_sin, const int64_t* positions, int64_t rows) const;
  // Rows of at most kMostNormed values, a multiple of 8.
  static constexpr int64_t kMostNormed = 2048;
  static bool CanNorm(int64_t width) { return width % 8 == 0 && width <= kMostNormed; }
  // RMS norm of each row.
  Status Norm(void* stream, const void* x, const void* weight, float eps, void* out, int64_t rows,
              int64_t width) const;
  // Whether the cache's rows are made of 16-byte pieces, which Keep() copies.
  bool can_keep() const { return shape_.kv_heads * shape_.head_dim % 8 == 0; }
  // Stores rows of keys and values, `stride` elements (a multiple of 8) apart, at `at`.
  Status Keep(void* stream, const void* keys, const void* values, int64_t stride, const int64_t* at,
              void* cached_keys, void* cached_values, int64_t rows) const;
  // Head sizes of 64 and 128 with at most 8 queries per kv head.
  static bool CanAttend(const Shape& shape);
  bool can_attend() const { return CanAttend(shape_); }
  // One query position per row: row r sees cache positions starts[r] … starts[r] + lengths[r] - 1
  // (one at least). The order of a row's sums depends on the number of rows. q: bf16 [rows, heads,
  // head_dim], rows `q_stride` elements (a multiple of 8) apart; out: dense.
  Status Attend(void* stream, const void* q, int64_t q_stride, const void* keys, const void* values,
                const int32_t* starts, const int32_t* lengths, float scale, void* out,
                int64_t rows) const;
  // out[r][i] = silu(both[r][i]) * both[r][width + i]; width is a multiple of 8.
  Status SiluMul(void* stream, const void* both, void* out, int64_t rows, int64_t width) const;
  // Draws from softmax(logits * inverse_temperature), restricted logits being -inf; the likeliest
  // where `greedy`. A row's result does not depend on other rows, nor on whether logits come as
  // bf16 or, scaled in advance, as fp32.
  Status Draw(void* stream, const void* logits, bool bf16, int64_t rows, int64_t vocab,
              const float* inverse_temperature, const float* noise, const bool* greedy,
              int64_t* tokens, float* logprobs) const;

 private:
  DecodeKernels() = default;
  Status Launch(gpu::CuFunction function, const char* name, void* stream, int64_t grid_x,
                int64_t grid_y, unsigned threads, void** parameters) const;

  Shape shape_;
  std::unique_ptr<gpu::KernelLibrary> library_;
  gpu::CuFunction feed_ = nullptr;
  gpu::CuFunction heads_ = nullptr;
  gpu::CuFunction norm_ = nullptr;
  gpu::CuFunction keep_ = nullptr;
  gpu::CuFunction attend_ = nullptr;
  gpu::CuFunction silu_mul_ = nullptr;
  gpu::CuFunction draw_bf16_ = nullptr;
  gpu::CuFunction draw_fp32_ = nullptr;
};

}  // namespace davinci::model
