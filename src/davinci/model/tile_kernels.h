// Matrix products and attention of prompts in bf16 on the tile registers of x86 CPUs (AMX), with
// fp32 sums. Plain C++, no torch.
//
// Every output row depends on its own input row alone, bit by bit, whatever the number of rows, as
// in cpu_kernels.h: sums run over blocks of 32 in the order of the inner dimension. bf16 values are
// passed by their bits.
//
// All functions but HasTiles() must be called only where it is true. They work on a range of their
// outputs, so that the caller decides about threads; ranges do not change a bit.
#pragma once

#include <cstdint>

#include "davinci/model/cpu_kernels.h"

namespace davinci::model {

// Whether this CPU has tile registers for bf16 and the operating system lets this process use them.
bool HasTiles();

// Inner dimensions are multiples of this.
inline constexpr int64_t kTileInner = 32;

// A matrix of bf16 in the order in which the tile registers take it: blocks of 32 rows, and of each
// two tiles for every 32 columns. Rows beyond the last are zero. kGated: a gate and its up
// projection, [2 width, inner]; a block has 16 rows of each.
enum class TileOrder { kPlain, kGated };
int64_t TileBlocks(int64_t out, TileOrder order);
// Elements of all blocks.
int64_t TiledSize(int64_t out, int64_t inner, TileOrder order);
// Blocks begin <= b < end; rows of w are `stride` apart.
void PackTiles(const uint16_t* w, int64_t stride, int64_t out, int64_t inner, TileOrder order,
               uint16_t* tiles, int64_t begin, int64_t end);
// A row of a matrix in plain order.
void UnpackTileRow(const uint16_t* tiles, int64_t inner, int64_t row, float* values);

struct TileProduct {
  const uint16_t* x = nullptr;  // [rows, inner], dense
  int64_t rows = 0;
  const uint16_t* tiles = nullptr;
  int64_t out = 0;
  int64_t inner = 0;
  const uint16_t* bias = nullptr;  // [out]; may be null
  // kPlain: y[m][n] = x w + bias, or added to y. Dense.
  float* y = nullptr;
  bool add = false;
  // kGated, where not null: [rows, out / 2], silu(gate) * up, rounded to bf16; y is not used.
  uint16_t* gated = nullptr;
};
// Columns of the blocks begin <= b < end.
void MultiplyTiles(const TileProduct& product, int64_t begin, int64_t end);

// `size` values rounded to bf16.
void RoundValues(const float* x, int64_t size, uint16_t* y);
// RmsNormRows() of dense rows with the result rounded to bf16; `weight` is bf16, `width` a multiple
// of 16.
void RmsNormRounded(const float* x, const uint16_t* weight, double eps, uint16_t* y, int64_t width,
                    int64_t begin, int64_t end);

// Attention of `count` consecutive positions of a request from `position` on, each over the
// request's cache up to itself (its keys and values are stored already). cache: bf16, head_dim a
// multiple of kTileInner. `start`: the request's first place in the cache. q: [count][heads]
// [head_dim], rows `q_stride` apart; out: [count][heads][head_dim], bf16, dense. Key-value heads
// begin <= h < end.
void AttendTiles(const CacheView& cache, int64_t start, int64_t position, int64_t count,
                 const float* q, int64_t q_stride, int64_t heads, float scale, uint16_t* out,
                 int64_t begin, int64_t end);

}  // namespace davinci::model
