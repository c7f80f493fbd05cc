// cpu_kernels.h on tensors, spread over ATen's threads. No gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "davinci/model/cpu_kernels.h"
#include "davinci/model/panel_kernels.h"
#include "davinci/model/tile_kernels.h"

namespace davinci::model {

Element ElementOf(const at::Tensor& tensor);

// x: fp32 [rows, in]; weight: fp32 or bf16 [out, in]; bias may be undefined. Returns fp32.
at::Tensor LinearOp(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
// A weight in the layout that a product reads.
enum class PackedLayout { kOneDnn, kTiles, kPanels };
struct PackedWeight {
  at::Tensor matrix;  // undefined: none
  PackedLayout layout = PackedLayout::kOneDnn;
  int64_t out = 0;
  int64_t inner = 0;
  int64_t row_step =
      0;  // kOneDnn: in products of a multiple of so many rows, a row's bits are its own
  TileOrder order = TileOrder::kPlain;  // kTiles
  // Whether there is one whose product is stored in its place or added to what is there.
  bool can_add() const { return matrix.defined() && layout != PackedLayout::kOneDnn; }
};
// fp32: panel_kernels.h's. bf16: oneDNN's; none where that product is not to be had on this CPU, or
// where the bits of a row depend on the number of rows whatever the step (looked at once for each
// shape).
PackedWeight PackWeight(const at::Tensor& weight);
// With tiles. None where this CPU has none, and for other types and inner sizes than they take.
PackedWeight PackTiledWeight(const at::Tensor& weight, TileOrder order);
// The product with a weight in oneDNN's layout: x is rounded to the weight's type, the result to
// fp32.
at::Tensor PackedLinearOp(const at::Tensor& x, const PackedWeight& packed, const at::Tensor& bias);
// The product with panels: stored in y, or added to it. All are fp32.
void PanelLinearOp(const at::Tensor& x, const PackedWeight& packed, const at::Tensor& bias,
                   const at::Tensor& y, bool add);
// The product with tiles, x in bf16. Plain order: stored in y (fp32), or added to it. Gated order:
// y is bf16, [rows, out / 2].
void TiledLinearOp(const at::Tensor& x, const PackedWeight& packed, const at::Tensor& bias,
                   const at::Tensor& y, bool add);
// Rows of a weight with panels or with tiles in plain order, fp32.
at::Tensor PackedEmbedOp(const PackedWeight& packed, const at::Tensor& tokens);
// Where there are tiles: fp32 → bf16, and the norm of fp32 rows in bf16.
at::Tensor RoundOp(const at::Tensor& x);
at::Tensor RoundedNormOp(const at::Tensor& x, const at::Tensor& weight, double eps);
at::Tensor NormOp(const at::Tensor& x, const at::Tensor& weight, double eps);
// [rows, 2 width] → [rows, width]
at::Tensor SiluMulOp(const at::Tensor& x);
// qkv: fp32 [rows, heads + 2 kv_heads, head_dim], dense; normalises q and k heads (undefined: not)
// and rotates them in place.
void HeadsOp(const at::Tensor& qkv, int64_t heads, int64_t kv_heads, const at::Tensor& q_norm,
             const at::Tensor& k_norm, double eps, const at::Tensor& cos_sin,
             const at::Tensor& positions);
// One position per row: stores k and v at the cache's positions `at` and attends (AttendRows).
at::Tensor AttendOp(const CacheView& cache, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v, const at::Tensor& at, const at::Tensor& starts,
                    const at::Tensor& lengths, float scale, int64_t longest);
// Consecutive positions of requests: rows begin … begin + count - 1 of the pass are the request's
// positions from `position` on.
struct PromptRows {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t position = 0;
  int64_t start = 0;  // the request's first place in the cache
};
// Attends all of them with tiles and writes their rows of `out` (bf16, [rows, heads * head_dim]).
// Their keys and values are in the cache already.
void AttendPromptOp(const CacheView& cache, const at::Tensor& q,
                    std::span<const PromptRows> prompts, float scale, const at::Tensor& out);

}  // namespace davinci::model
