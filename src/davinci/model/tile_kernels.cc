#include "davinci/model/tile_kernels.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "davinci/model/cpu_lanes.h"

#if defined(__x86_64__) && defined(__linux__)

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DV_TILES __attribute__((target("arch=x86-64-v4,amx-tile,amx-bf16")))

namespace davinci::model {
namespace {

constexpr int64_t kTileRows = 16;
constexpr int64_t kBlock = 2 * kTileRows;  // rows and columns of a product at a time
constexpr int64_t kTileElements = kTileRows * kTileInner;
constexpr int64_t kTileBytesPerRow = 64;
// Rows of x that stay in the second-level cache while all columns pass over them.
constexpr int64_t kSlab = 256;

// Row of the matrix that lies in column `lane` of tile `half` of a block; -1: none.
int64_t RowOf(int64_t block, int64_t half, int64_t lane, int64_t out, TileOrder order) {
  if (order == TileOrder::kPlain) {
    const int64_t row = block * kBlock + half * kTileRows + lane;
    return row < out ? row : -1;
  }
  const int64_t row = block * kTileRows + lane;
  return row < out / 2 ? half * (out / 2) + row : -1;
}

// LDTILECFG's operand.
struct alignas(64) Configuration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {};
  uint8_t rows[16] = {};
};

// Sums of up to 32 rows: tiles 0 … 3 hold them, 4 and 5 rows of x, 6 and 7 the matrix.
DV_TILES void Configure(int64_t rows) {
  Configuration configuration;
  const auto upper = static_cast<uint8_t>(std::min(rows, kTileRows));
  const auto lower = static_cast<uint8_t>(std::max<int64_t>(rows - kTileRows, 1));
  for (int i = 0; i < 8; ++i) {
    configuration.bytes_per_row[i] = kTileBytesPerRow;
    configuration.rows[i] = i >= 6 ? kTileRows : i == 2 || i == 3 || i == 5 ? lower : upper;
  }
  _tile_loadconfig(&configuration);
}

// c: 32 columns, rows `c_stride` apart. first and second: the block's tiles, `steps` of them each.
// Configure() was called with the same `rows`.
DV_TILES inline void Block32(const uint16_t* x, int64_t x_stride, int64_t rows,
                             const uint16_t* first, const uint16_t* second, int64_t steps, float* c,
                             int64_t c_stride) {
  const auto x_bytes = x_stride * static_cast<int64_t>(sizeof *x);
  const auto c_bytes = c_stride * static_cast<int64_t>(sizeof *c);
  asm volatile("" ::: "memory");  // the loads' own statements do not say that they read memory
  _tile_zero(0);
  _tile_zero(1);
  if (rows <= kTileRows) {
    for (int64_t k = 0; k < steps; ++k) {
      _tile_loadd(4, x + k * kTileInner, x_bytes);
      _tile_loadd(6, first + k * kTileElements, kTileBytesPerRow);
      _tile_loadd(7, second + k * kTileElements, kTileBytesPerRow);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
    }
  } else {
    _tile_zero(2);
    _tile_zero(3);
    const uint16_t* below = x + kTileRows * x_stride;
    for (int64_t k = 0; k < steps; ++k) {
      _tile_loadd(4, x + k * kTileInner, x_bytes);
      _tile_loadd(6, first + k * kTileElements, kTileBytesPerRow);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, second + k * kTileElements, kTileBytesPerRow);
      _tile_dpbf16ps(1, 4, 7);
      _tile_loadd(5, below + k * kTileInner, x_bytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(2, c + kTileRows * c_stride, c_bytes);
    _tile_stored(3, c + kTileRows * c_stride + kTileRows, c_bytes);
  }
  _tile_stored(0, c, c_bytes);
  _tile_stored(1, c + kTileRows, c_bytes);
  asm volatile("" ::: "memory");
}

DV_INLINE F16 LoadLanes(const float* from) {
  F16 to;
  std::memcpy(&to, from, sizeof to);
  return to;
}

// Of one row: `sums` of the block's 32 columns.
DV_TILES inline void Finish(const TileProduct& p, int64_t row, int64_t block, const float* sums) {
  if (p.gated != nullptr) {
    const int64_t width = p.out / 2;
    const int64_t column = block * kTileRows;
    F16 gate = LoadLanes(sums);
    F16 up = LoadLanes(sums + kTileRows);
    const int64_t count = std::min(kTileRows, width - column);
    if (p.bias != nullptr)
      for (int64_t i = 0; i < count; ++i) {
        gate[i] += Lanes<uint16_t>::One(p.bias[column + i]);
        up[i] += Lanes<uint16_t>::One(p.bias[width + column + i]);
      }
    uint16_t rounded[kTileRows];
    StoreRounded(gate / (1.0F + Exp(-gate)) * up, rounded);
    std::copy_n(rounded, count, p.gated + row * width + column);
    return;
  }
  const int64_t column = block * kBlock;
  float* y = p.y + row * p.out + column;
  for (int64_t half = 0; half < kBlock; half += kTileRows) {
    const int64_t count = std::min(kTileRows, p.out - column - half);
    if (count == kTileRows) {
      F16 value = LoadLanes(sums + half);
      if (p.bias != nullptr) {
        F16 bias;
        Lanes<uint16_t>::Load(p.bias + column + half, &bias);
        value += bias;
      }
      if (p.add) value += LoadLanes(y + half);
      std::memcpy(y + half, &value, sizeof value);
      continue;
    }
    for (int64_t i = half; i < half + count; ++i) {
      const float bias = p.bias == nullptr ? 0 : Lanes<uint16_t>::One(p.bias[column + i]);
      y[i] = sums[i] + bias + (p.add ? y[i] : 0);
    }
  }
}

// The transpose of `count` rows of values as a matrix [width, positions], whose inner dimension is
// the position. Positions from `count` on are zero.
DV_TILES void PackValues(const uint16_t* values, int64_t stride, int64_t count, int64_t width,
                         int64_t positions, uint16_t* tiles) {
  const int64_t steps = positions / kTileInner;
  for (int64_t at = 0; at < positions; at += 2)
    for (int64_t column = 0; column < width; column += kTileRows) {
      U16 words = {};
      const auto load = [&](int64_t position) __attribute__((always_inline)) {
        H16 half;
        std::memcpy(&half, values + position * stride + column, sizeof half);
        return __builtin_convertvector(half, U16);
      };
      if (at < count) words = load(at);
      if (at + 1 < count) words |= load(at + 1) << 16;
      std::memcpy(tiles + (column / kTileRows * steps + at / kTileInner) * kTileElements +
                      at % kTileInner * kTileRows,
                  &words, sizeof words);
    }
}

// Of a thread; grows, and keeps what it has.
struct AttendScratch {
  std::vector<uint16_t> keys, values, queries, weights;
  std::vector<float> scores;
};
template <typename T>
T* Room(std::vector<T>* memory, int64_t size) {
  if (static_cast<int64_t>(memory->size()) < size) memory->resize(static_cast<size_t>(size));
  return memory->data();
}

// Row of scores → weights that sum to the reciprocal of what is returned, those behind `length`
// zero. Both have room for `padded` values.
DV_TILES float Softmax(float* scores, int64_t length, int64_t padded, uint16_t* weights) {
  const float top = Largest(scores, length);
  const int64_t whole = (length + kLanes - 1) / kLanes * kLanes;
  std::fill(scores + length, scores + whole, -std::numeric_limits<float>::infinity());
  const float sum = ExpSum(scores, whole, top);
  for (int64_t i = 0; i < whole; i += kLanes) StoreRounded(LoadLanes(scores + i), weights + i);
  std::fill(weights + length, weights + padded, uint16_t{0});
  return 1.0F / sum;
}

}  // namespace

bool HasTiles() {
  static const bool has = [] {
    constexpr unsigned kFeatures = 7;
    constexpr unsigned kBf16Tiles = 1U << 22;
    constexpr unsigned kTiles = 1U << 24;
    unsigned a = 0, b = 0, c = 0, d = 0;
    asm volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(kFeatures), "c"(0));
    if ((d & kBf16Tiles) == 0 || (d & kTiles) == 0 || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512bw"))
      return false;
    // Linux grants the tiles' state to a process that asks (arch_prctl(2)).
    constexpr long kRequestPermission = 0x1023;
    constexpr long kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return has;
}

int64_t TileBlocks(int64_t out, TileOrder order) {
  return order == TileOrder::kPlain ? (out + kBlock - 1) / kBlock
                                    : (out / 2 + kTileRows - 1) / kTileRows;
}

int64_t TiledSize(int64_t out, int64_t inner, TileOrder order) {
  return TileBlocks(out, order) * kBlock * inner;
}

DV_TILES void PackTiles(const uint16_t* w, int64_t stride, int64_t out, int64_t inner,
                        TileOrder order, uint16_t* tiles, int64_t begin, int64_t end) {
  // Elements of a row lie in pairs, which are words of a tile's rows.
  for (int64_t block = begin; block < end; ++block)
    for (int64_t half = 0; half < 2; ++half) {
      uint16_t* to = tiles + (block * kBlock + half * kTileRows) * inner;
      for (int64_t lane = 0; lane < kTileRows; ++lane) {
        const int64_t row = RowOf(block, half, lane, out, order);
        for (int64_t k = 0; k < inner; k += 2) {
          uint32_t word = 0;
          if (row >= 0) std::memcpy(&word, w + row * stride + k, sizeof word);
          std::memcpy(to + k * kTileRows + 2 * lane, &word, sizeof word);
        }
      }
    }
}

void UnpackTileRow(const uint16_t* tiles, int64_t inner, int64_t row, float* values) {
  const uint16_t* from = tiles + row / kTileRows * kTileRows * inner + row % kTileRows * 2;
  for (int64_t k = 0; k < inner; ++k)
    values[k] = Lanes<uint16_t>::One(from[k / 2 * kBlock + k % 2]);
}

DV_TILES void MultiplyTiles(const TileProduct& p, int64_t begin, int64_t end) {
  alignas(64) float sums[kBlock * kBlock];
  const int64_t steps = p.inner / kTileInner;
  int64_t configured = 0;
  for (int64_t slab = 0; slab < p.rows; slab += kSlab) {
    const int64_t slab_end = std::min(slab + kSlab, p.rows);
    for (int64_t block = begin; block < end; ++block) {
      const uint16_t* tiles = p.tiles + block * kBlock * p.inner;
      for (int64_t row = slab; row < slab_end; row += kBlock) {
        const int64_t rows = std::min(kBlock, slab_end - row);
        if (rows != configured) Configure(configured = rows);
        Block32(p.x + row * p.inner, p.inner, rows, tiles, tiles + kTileRows * p.inner, steps, sums,
                kBlock);
        for (int64_t i = 0; i < rows; ++i) Finish(p, row + i, block, sums + i * kBlock);
      }
    }
  }
  _tile_release();
}

DV_TILES void RoundValues(const float* x, int64_t size, uint16_t* y) {
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) StoreRounded(LoadLanes(x + i), y + i);
  for (; i < size; ++i) y[i] = Lanes<uint16_t>::To(x[i]);
}

DV_TILES void RmsNormRounded(const float* x, const uint16_t* weight, double eps, uint16_t* y,
                             int64_t width, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* in = x + row * width;
    uint16_t* out = y + row * width;
    F16 squares = {};
    for (int64_t i = 0; i < width; i += kLanes) {
      const F16 value = LoadLanes(in + i);
      squares += value * value;
    }
    const float mean = Sum(squares) / static_cast<float>(width);
    const float factor = 1.0F / std::sqrt(mean + static_cast<float>(eps));
    for (int64_t i = 0; i < width; i += kLanes) {
      F16 scale;
      Lanes<uint16_t>::Load(weight + i, &scale);
      StoreRounded(LoadLanes(in + i) * factor * scale, out + i);
    }
  }
}

DV_TILES void AttendTiles(const CacheView& cache, int64_t start, int64_t position, int64_t count,
                          const float* q, int64_t q_stride, int64_t heads, float scale,
                          uint16_t* out, int64_t begin, int64_t end) {
  const int64_t group = heads / cache.kv_heads;
  const int64_t dim = cache.head_dim;
  const int64_t step = cache.kv_heads * dim;
  const int64_t context = position + count;
  const int64_t padded = (context + kBlock - 1) / kBlock * kBlock;
  static thread_local AttendScratch scratch;
  uint16_t* keys = Room(&scratch.keys, padded * dim);
  uint16_t* values = Room(&scratch.values, padded * dim);
  uint16_t* queries = Room(&scratch.queries, kBlock * dim);
  uint16_t* weights = Room(&scratch.weights, kBlock * padded);
  float* scores = Room(&scratch.scores, kBlock * padded);
  alignas(64) float sums[kBlock * kBlock];
  float factors[kBlock];
  int64_t configured = 0;
  for (int64_t kv = begin; kv < end; ++kv) {
    PackTiles(static_cast<const uint16_t*>(cache.keys) + start * step + kv * dim, step, context,
              dim, TileOrder::kPlain, keys, 0, padded / kBlock);
    PackValues(static_cast<const uint16_t*>(cache.values) + start * step + kv * dim, step, context,
               dim, padded, values);
    for (int64_t head = kv * group; head < (kv + 1) * group; ++head)
      for (int64_t row = 0; row < count; row += kBlock) {
        const int64_t rows = std::min(kBlock, count - row);
        if (rows != configured) Configure(configured = rows);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t d = 0; d < dim; d += kLanes)
            StoreRounded(LoadLanes(q + (row + i) * q_stride + head * dim + d) * scale,
                         queries + i * dim + d);
        const int64_t first = position + row;  // of the rows' positions
        const int64_t blocks = (first + rows + kBlock - 1) / kBlock;
        for (int64_t block = 0; block < blocks; ++block) {
          const uint16_t* tiles = keys + block * kBlock * dim;
          Block32(queries, dim, rows, tiles, tiles + kTileRows * dim, dim / kTileInner,
                  scores + block * kBlock, padded);
        }
        for (int64_t i = 0; i < rows; ++i)
          factors[i] =
              Softmax(scores + i * padded, first + i + 1, blocks * kBlock, weights + i * padded);
        for (int64_t d = 0; d < dim; d += kBlock) {
          Block32(weights, padded, rows, values + d * padded, values + (d + kTileRows) * padded,
                  blocks, sums, kBlock);
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t half = 0; half < kBlock; half += kTileRows)
              StoreRounded(LoadLanes(sums + i * kBlock + half) * factors[i],
                           out + ((row + i) * heads + head) * dim + d + half);
        }
      }
  }
  _tile_release();
}

}  // namespace davinci::model

#else

namespace davinci::model {

bool HasTiles() { return false; }
int64_t TileBlocks(int64_t, TileOrder) { return 0; }
int64_t TiledSize(int64_t, int64_t, TileOrder) { return 0; }
void PackTiles(const uint16_t*, int64_t, int64_t, int64_t, TileOrder, uint16_t*, int64_t, int64_t) {
}
void UnpackTileRow(const uint16_t*, int64_t, int64_t, float*) {}
void MultiplyTiles(const TileProduct&, int64_t, int64_t) {}
void RoundValues(const float*, int64_t, uint16_t*) {}
void RmsNormRounded(const float*, const uint16_t*, double, uint16_t*, int64_t, int64_t, int64_t) {}
void AttendTiles(const CacheView&, int64_t, int64_t, int64_t, const float*, int64_t, int64_t, float,
                 uint16_t*, int64_t, int64_t) {}

}  // namespace davinci::model

#endif
