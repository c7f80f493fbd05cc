#include "davinci/model/panel_kernels.h"

#include <algorithm>
#include <cstring>

#include "davinci/model/cpu_lanes.h"

namespace davinci::model {
namespace {

// Bytes between a load and the prefetch of what lies behind it: covers the memory's latency at a
// core's rate, within a page.
constexpr int64_t kPrefetchAhead = 2048;
// Bytes of x that leave room for panels in the second-level cache.
constexpr int64_t kSlabBytes = 512 << 10;

template <int kWidth>
struct VectorOf;
template <>
struct VectorOf<16> {
  typedef float Type __attribute__((vector_size(64)));
};
template <>
struct VectorOf<8> {
  typedef float Type __attribute__((vector_size(32)));
};
template <>
struct VectorOf<4> {
  typedef float Type __attribute__((vector_size(16)));
};

// Vectors of kWidth floats, which is a register's; up to kRegisters of them hold sums. Up to
// kFewRows rows are multiplied at once, so that the weight is read once; more in blocks of
// kBlockRows.
template <int kWidth, int kRegisters, int kFewRows, int kBlockRows>
struct PanelKernel {
  using Vector = typename VectorOf<kWidth>::Type;
  static constexpr int kPanelVectors = kPanelColumns / kWidth;

  static DV_INLINE Vector Load(const float* from) {
    Vector to;
    std::memcpy(&to, from, sizeof to);
    return to;
  }

  static DV_INLINE void Store(const PanelProduct& p, int64_t row, int64_t column, Vector sums) {
    float* y = p.y + row * p.out + column;
    const int64_t count = std::min<int64_t>(kWidth, p.out - column);
    if (count == kWidth) {
      if (p.bias != nullptr) sums += Load(p.bias + column);
      if (p.add) sums += Load(y);
      std::memcpy(y, &sums, sizeof sums);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const float sum = p.bias == nullptr ? sums[i] : sums[i] + p.bias[column + i];
      y[i] = p.add ? sum + y[i] : sum;
    }
  }

  // kRows rows times kVectors vectors of columns from `first` on, in registers.
  template <int kRows, int kVectors, bool kPrefetch>
  static DV_INLINE void Block(const PanelProduct& p, int64_t row, int64_t first) {
    const int64_t inner = p.inner;
    const float* x = p.x + row * inner;
    const float* w =
        p.panels + first / kPanelVectors * kPanelColumns * inner + first % kPanelVectors * kWidth;
    Vector acc[kRows][kVectors] = {};
    for (int64_t k = 0; k < inner; ++k) {
      Vector b[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const float* from = w + (v / kPanelVectors * inner + k) * kPanelColumns +
                            int64_t{v % kPanelVectors} * kWidth;
        if constexpr (kPrefetch)
          __builtin_prefetch(reinterpret_cast<const char*>(from) + kPrefetchAhead);
        b[v] = Load(from);
      }
      for (int m = 0; m < kRows; ++m)
        for (int v = 0; v < kVectors; ++v) acc[m][v] += b[v] * x[m * inner + k];
    }
    for (int m = 0; m < kRows; ++m)
      for (int v = 0; v < kVectors; ++v) Store(p, row + m, (first + v) * kWidth, acc[m][v]);
  }

  static constexpr int Vectors(int rows) {
    int vectors = 1;
    while (2 * vectors * rows <= kRegisters && vectors < 8) vectors *= 2;
    return vectors;
  }

  // All rows at once, and kVectors vectors, fewer at the end.
  template <int kRows, int kVectors>
  static DV_INLINE void Columns(const PanelProduct& p, int64_t begin, int64_t end) {
    for (; begin + kVectors <= end; begin += kVectors)
      Block<kRows, kVectors, /*kPrefetch=*/true>(p, 0, begin);
    if constexpr (kVectors > kPanelVectors)
      if (begin < end) Columns<kRows, kVectors / 2>(p, begin, end);
  }
  template <int kRows>
  static DV_INLINE void FewRows(const PanelProduct& p, int64_t begin, int64_t end) {
    if constexpr (kRows > 1)
      if (p.rows < kRows) return FewRows<kRows - 1>(p, begin, end);
    Columns<kRows, Vectors(kRows)>(p, begin, end);
  }

  template <int kRows, int kVectors, bool kPrefetch>
  static DV_INLINE void Rows(const PanelProduct& p, int64_t row, int64_t rows, int64_t first) {
    if constexpr (kRows > 1)
      if (rows < kRows) return Rows<kRows - 1, kVectors, kPrefetch>(p, row, rows, first);
    Block<kRows, kVectors, kPrefetch>(p, row, first);
  }
  // Blocks of rows: all of the same number or one less.
  template <int kVectors>
  static DV_INLINE void ManyRows(const PanelProduct& p, int64_t begin, int64_t end) {
    for (; begin + kVectors <= end; begin += kVectors) {
      int64_t blocks = (p.rows + kBlockRows - 1) / kBlockRows;
      int64_t rows = (p.rows + blocks - 1) / blocks;
      Rows<kBlockRows, kVectors, /*kPrefetch=*/true>(p, 0, rows, begin);
      for (int64_t row = rows; row < p.rows; row += rows) {
        --blocks;
        rows = (p.rows - row + blocks - 1) / blocks;
        Rows<kBlockRows, kVectors, /*kPrefetch=*/false>(p, row, rows, begin);
      }
    }
    if constexpr (kVectors > kPanelVectors)
      if (begin < end) ManyRows<kVectors / 2>(p, begin, end);
  }

  static DV_INLINE void Multiply(const PanelProduct& p, int64_t begin, int64_t end) {
    begin *= kPanelVectors;
    end *= kPanelVectors;
    if (p.rows <= kFewRows) return FewRows<kFewRows>(p, begin, end);
    ManyRows<Vectors(kBlockRows)>(p, begin, end);
  }
};

void MultiplyGeneric(const PanelProduct& p, int64_t begin, int64_t end) {
  PanelKernel<4, 12, 6, 6>::Multiply(p, begin, end);
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void MultiplyAvx2(const PanelProduct& p, int64_t begin,
                                                      int64_t end) {
  PanelKernel<8, 12, 3, 3>::Multiply(p, begin, end);
}
__attribute__((target("avx512f,fma"))) void MultiplyAvx512(const PanelProduct& p, int64_t begin,
                                                           int64_t end) {
  PanelKernel<16, 24, 12, 6>::Multiply(p, begin, end);
}
#endif

}  // namespace

int64_t NumPanels(int64_t out) { return (out + kPanelColumns - 1) / kPanelColumns; }

int64_t PanelsSize(int64_t out, int64_t inner) { return NumPanels(out) * kPanelColumns * inner; }

void PackPanels(const float* w, int64_t out, int64_t inner, float* panels, int64_t begin,
                int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel * kPanelColumns;
    const int64_t columns = std::min(kPanelColumns, out - first);
    float* to = panels + first * inner;
    for (int64_t k = 0; k < inner; ++k, to += kPanelColumns) {
      for (int64_t i = 0; i < columns; ++i) to[i] = w[(first + i) * inner + k];
      std::fill(to + columns, to + kPanelColumns, 0.0F);
    }
  }
}

void UnpackPanelRow(const float* panels, int64_t inner, int64_t row, float* values) {
  const float* from = panels + row / kPanelColumns * kPanelColumns * inner + row % kPanelColumns;
  for (int64_t k = 0; k < inner; ++k) values[k] = from[k * kPanelColumns];
}

VectorSet WidestVectors() {
#if defined(__x86_64__)
  static const VectorSet widest = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      return VectorSet::kGeneric;
    return __builtin_cpu_supports("avx512f") ? VectorSet::kAvx512 : VectorSet::kAvx2;
  }();
  return widest;
#else
  return VectorSet::kGeneric;
#endif
}

void MultiplyPanels(const PanelProduct& product, int64_t begin, int64_t end, VectorSet vectors) {
  switch (vectors) {
#if defined(__x86_64__)
    case VectorSet::kAvx512:
      return MultiplyAvx512(product, begin, end);
    case VectorSet::kAvx2:
      return MultiplyAvx2(product, begin, end);
#endif
    default:
      return MultiplyGeneric(product, begin, end);
  }
}

int64_t PanelSlabRows(int64_t inner) {
  return std::max<int64_t>(48, kSlabBytes / (inner * static_cast<int64_t>(sizeof(float))));
}

}  // namespace davinci::model
