// The CUDA kernels of the embedded model (kernels/decode.cu), compiled at run time by NVRTC for one
// device and one shape of attention. No torch: pointers are addresses on the device, the stream is
// a CUDA stream of the primary context, which must be current on the calling thread. Launches only
// enqueue, so they can be captured into a graph; the object must outlive the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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
  // `directories` are searched for NVRTC first. kNotFound where there is none. `overlap`: Project()
  // and AttendWhole() begin while the kernel ahead of them on the stream runs, where the device can
  // (compute capability 9.0), so that its results may be read only by kernels behind them.
  static Result<std::unique_ptr<DecodeKernels>> Load(int ordinal, Shape shape,
                                                     std::vector<std::string> directories,
                                                     bool overlap = true);
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
  // (one at least). The order of a row's sums depends on the number of rows; its weights are
  // rounded to bf16. q: bf16 [rows, heads, head_dim], rows `q_stride` elements (a multiple of 8)
  // apart; out: dense. `warps`: of a block, at most 8; 0: BestAttendWarps().
  Status Attend(void* stream, const void* q, int64_t q_stride, const void* keys, const void* values,
                const int32_t* starts, const int32_t* lengths, float scale, void* out, int64_t rows,
                int warps = 0) const;
  // Of Attend() and AttendWhole() for steps of `rows`.
  int BestAttendWarps(int64_t rows) const;
  // Heads(), Keep() and Attend() in one, for rows of heads as the product made them: dense
  // [rows, heads + 2 kv_heads, head_dim]. Row r's key and value become the cache's position
  // starts[r] + lengths[r] - 1, which is the last that it sees; earlier ones must not come from the
  // kernel ahead on the stream. lengths[r] is one at least, for rows without a request, too
  // (FillStep). `positions`: what heads are rotated by. `x` (null: none): [rows, width] that the
  // product took as it is; heads are multiplied by the factor of each row's RMS norm. width is a
  // multiple of 8.
  Status AttendWhole(void* stream, const void* qkv, const void* x, int64_t width,
                     const void* q_norm, const void* k_norm, float eps, const float* cos_sin,
                     const int64_t* positions, void* cached_keys, void* cached_values,
                     const int32_t* starts, const int32_t* lengths, float scale, void* out,
                     int64_t rows, int warps = 0) const;

  // A product with what lies around it, for few rows:
  // y[r][i] = sum_j norm(x)[r][j] weight[i][j] + bias[i], then out = y + residual, or with `gate`
  // out[r][i] = silu(y[r][i]) * y[r][width + i]. All bf16 and dense; weight [width, inner], with
  // gate [2 width, inner]. A row's result does not depend on other rows, given their number.
  struct Projection {
    const void* x = nullptr;         // [rows, inner]
    const void* norm = nullptr;      // of RMS norm, [inner]; null: without, no gate then
    const void* weight = nullptr;    // must not come from the kernel ahead on the stream
    const void* bias = nullptr;      // [width], with gate [2 width]; null: none
    const void* residual = nullptr;  // [rows, width]; null: none. May be `out`.
    void* out = nullptr;             // [rows, width]
    float eps = 0;
    bool gate = false;
    int64_t rows = 0, width = 0, inner = 0;
  };
  static bool CanProject(int64_t width, int64_t inner) {
    return inner % 32 == 0 && width % 2 == 0 && 2 * width * inner < int64_t{1} << 32;
  }
  // A block's results are 16 m groups rows by 8 n columns (with gate 4 n).
  struct Tile {
    int m = 0, n = 0, groups = 0;
  };
  // Those that Project() has for a kind of projection, by size.
  static std::span<const Tile> Tiles(bool gate);
  // `tile`: an index of Tiles(); -1: the best.
  Status Project(void* stream, const Projection& projection, int tile = -1) const;
  // The index of Tiles() that Project() takes.
  static int BestTile(int64_t rows, int64_t width, bool gate);

  // out[r][i] = silu(both[r][i]) * both[r][width + i]; width is a multiple of 8.
  Status SiluMul(void* stream, const void* both, void* out, int64_t rows, int64_t width) const;
  // The same of both * f, f being the factor of the RMS norm of x's row: [rows, inner], inner and
  // width multiples of 8.
  Status NormedGate(void* stream, const void* both, const void* x, int64_t inner, float eps,
                    void* out, int64_t rows, int64_t width) const;
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
  // For kernels that wait themselves for the one ahead.
  Status LaunchNext(gpu::CuFunction function, const char* name, void* stream, int64_t grid_x,
                    int64_t grid_y, unsigned threads, void** parameters) const;

  Shape shape_;
  std::unique_ptr<gpu::KernelLibrary> library_;
  gpu::CuFunction feed_ = nullptr;
  gpu::CuFunction heads_ = nullptr;
  gpu::CuFunction norm_ = nullptr;
  gpu::CuFunction keep_ = nullptr;
  gpu::CuFunction attend_ = nullptr;
  gpu::CuFunction attend_whole_ = nullptr;
  // In the order of Tiles(): with norm, without, with norm and gate.
  std::vector<gpu::CuFunction> norm_products_, products_, gated_products_;
  bool overlap_ = false;
  gpu::CuFunction silu_mul_ = nullptr;
  gpu::CuFunction normed_gate_ = nullptr;
  gpu::CuFunction draw_bf16_ = nullptr;
  gpu::CuFunction draw_fp32_ = nullptr;
};

}  // namespace davinci::model
