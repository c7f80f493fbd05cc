// The CUDA kernels of a training pass (kernels/train.cu), compiled at run time by NVRTC for one
// device. No torch: pointers are addresses on the device, matrices are dense bf16, the stream is a
// CUDA stream of the primary context. Launches only enqueue, from any thread. Sums have a fixed
// order: the same input gives the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/kernel_library.h"

namespace davinci::model {

class TrainKernels {
 public:
  // `directories` are searched for NVRTC first. kNotFound where there is none.
  static Result<std::unique_ptr<TrainKernels>> Load(int ordinal,
                                                    std::vector<std::string> directories);
  // What NVRTC gets.
  static std::string Source();

  // RMS norm of each row: widths that are a multiple of 8, at most 5120.
  static bool CanNorm(int64_t width) { return width % 8 == 0 && width <= 8 * kMostChunks; }
  Status Norm(void* stream, const void* x, const void* weight, float eps, void* out, int64_t rows,
              int64_t width) const;
  // d_x = d_sum (null: 0) + the gradient of the norm's input. parts (null: not wanted): fp32
  // [NormParts(rows, width), width], whose sum is the weight's gradient.
  static int64_t NormParts(int64_t rows, int64_t width);
  Status NormBackward(void* stream, const void* x, const void* weight, const void* d_out,
                      const void* d_sum, float eps, void* d_x, float* parts, int64_t rows,
                      int64_t width) const;
  // out (bf16) = sum of `count` fp32 rows.
  Status Sum(void* stream, const float* parts, void* out, int64_t count, int64_t width) const;

  struct HeadShape {
    int heads = 0;
    int kv_heads = 0;
    int dim = 0;
    float eps = 0;
  };
  // Head sizes that are a multiple of 16, with so few heads that a block has them all.
  static bool CanHeads(const HeadShape& shape);
  // Normalises (weights not null) and rotates q and k heads of rows of [heads + 2 kv_heads, dim].
  // out: the same memory, or rows of [heads + kv_heads, dim]. cos_sin: fp32 [positions, cos | sin].
  Status Heads(void* stream, const HeadShape& shape, const void* qkv, void* out, const void* q_norm,
               const void* k_norm, const float* cos_sin, const int64_t* positions,
               int64_t rows) const;
  // The gradient of qkv from those of q and k, as Heads() makes them, and of v. qkv: as Heads() got
  // it; without norms not read. parts (null: not wanted): fp32 [HeadParts(shape, rows), 2 dim],
  // whose sum is the gradient of q_norm and k_norm.
  static int64_t HeadParts(const HeadShape& shape, int64_t rows);
  Status HeadsBackward(void* stream, const HeadShape& shape, const void* qkv, const void* d_q,
                       const void* d_k, const void* d_v, void* d_qkv, const void* q_norm,
                       const void* k_norm, const float* cos_sin, const int64_t* positions,
                       float* parts, int64_t rows) const;

  // both: [rows, 2 width].
  static bool CanSilu(int64_t rows, int64_t width) {
    return width % 8 == 0 && rows * (width / 8) <= INT32_MAX;
  }
  // out = silu(first half) * second half
  Status Silu(void* stream, const void* both, void* out, int64_t rows, int64_t width) const;
  Status SiluBackward(void* stream, const void* both, const void* d_out, void* d_both, int64_t rows,
                      int64_t width) const;

  // Rows of logits, z = logits * inverse_temperature. For each the log-probability of its expected
  // token, the log of the sum of exp(z) and (not null) the entropy. slopes not null: each row
  // becomes, in place, d logits of the sum of slope * log-probability. vocab: a multiple of 8.
  static bool CanScore(int64_t vocab) { return vocab % 8 == 0; }
  Status Score(void* stream, void* logits, int64_t rows, int64_t vocab, float inverse_temperature,
               const int64_t* expected, const float* slopes, float* log_probs, float* log_sums,
               float* entropies) const;
  // That second part alone.
  Status ScoreBackward(void* stream, void* logits, int64_t rows, int64_t vocab,
                       float inverse_temperature, const int64_t* expected, const float* slopes,
                       const float* log_sums) const;

  // An update of many tensors in one launch. On the device: `slots`, kSlotWords words of each
  // tensor (the members of UpdateSlot), and `blocks`, a pair for each block: the tensor, and which
  // kUpdateChunk of its elements.
  struct UpdateSlot {
    int64_t gradient = 0;  // address: fp32, or bf16 with kHalf
    int64_t master = 0;    // address: fp32; moments, too
    int64_t first = 0, second = 0;
    int64_t weights = 0;  // address: bf16, gets the rounded masters; 0: none
    int64_t count = 0;    // elements
    int64_t flags = 0;
  };
  static constexpr int64_t kDecays = 1, kHalf = 2, kDense = 4;  // kDense: addresses allow 16 bytes
  static constexpr int64_t kSlotWords = sizeof(UpdateSlot) / sizeof(int64_t);
  static constexpr int64_t kUpdateChunk = 16384;
  // total = sum of squares of all gradients. parts: fp32 [num_blocks].
  Status Squares(void* stream, const int64_t* slots, const int32_t* blocks, int64_t num_blocks,
                 float* parts, double* total) const;
  struct AdamStep {
    double clip_norm = 0;  // 0: no clipping
    double beta1 = 0, beta2 = 0, epsilon = 0, weight_decay = 0, learning_rate = 0;
    int64_t step = 1;  // counted from 1
  };
  // Clips by the norm, the root of `squares`, and updates; nothing where that is not finite.
  Status AdamW(void* stream, const int64_t* slots, const int32_t* blocks, int64_t num_blocks,
               const double* squares, const AdamStep& step) const;

 private:
  // As train.cu says.
  static constexpr int64_t kMostChunks = 640;  // of 8 values, a thread each
  static constexpr int kMostHeadThreads = 768;
  TrainKernels() = default;
  Status Launch(gpu::CuFunction function, const char* name, void* stream, int64_t blocks,
                unsigned threads, void** parameters) const;

  std::unique_ptr<gpu::KernelLibrary> library_;
  gpu::CuFunction norm_ = nullptr;
  gpu::CuFunction norm_back_ = nullptr;
  gpu::CuFunction sum_ = nullptr;
  gpu::CuFunction heads_ = nullptr;
  gpu::CuFunction heads_back_ = nullptr;
  gpu::CuFunction silu_ = nullptr;
  gpu::CuFunction silu_back_ = nullptr;
  gpu::CuFunction score_ = nullptr;
  gpu::CuFunction score_back_ = nullptr;
  gpu::CuFunction squares_ = nullptr;
  gpu::CuFunction total_ = nullptr;
  gpu::CuFunction adamw_ = nullptr;
};

}  // namespace davinci::model
