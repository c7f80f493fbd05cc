"""Matrix product whose inner loop keeps a tile of the result in registers."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <algorithm>
#include <cstdint>
#include <vector>

#ifdef __AVX512F__
typedef float Vec __attribute__((vector_size(64), aligned(4), may_alias));
#else
typedef float Vec __attribute__((vector_size(32), aligned(4), may_alias));
#endif
constexpr int64_t kVec = sizeof(Vec) / sizeof(float);
constexpr int64_t kCols = 2 * kVec;  // a tile is kRows x kCols: 12 accumulators and 3 more registers
constexpr int64_t kRows = 6;
constexpr int64_t kDepth = 256;  // of a panel of B; 256 x 32 floats fit in L1

// rows x kCols of the result += rows of A times one packed panel of B.
template <int rows>
static void Tile(const float* a, const float* panel, float* out, int64_t depth, int64_t a_pitch,
                 int64_t out_pitch) {
  Vec sum[rows][2] = {};
  for (int64_t p = 0; p < depth; ++p) {
    const Vec left = *reinterpret_cast<const Vec*>(panel + p * kCols);
    const Vec right = *reinterpret_cast<const Vec*>(panel + p * kCols + kVec);
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r) {
      sum[r][0] += a[r * a_pitch + p] * left;
      sum[r][1] += a[r * a_pitch + p] * right;
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < rows; ++r) {
    *reinterpret_cast<Vec*>(out + r * out_pitch) += sum[r][0];
    *reinterpret_cast<Vec*>(out + r * out_pitch + kVec) += sum[r][1];
  }
}

static void AnyTile(int64_t rows, const float* a, const float* panel, float* out, int64_t depth,
                    int64_t a_pitch, int64_t out_pitch) {
  switch (rows) {
    case 1: return Tile<1>(a, panel, out, depth, a_pitch, out_pitch);
    case 2: return Tile<2>(a, panel, out, depth, a_pitch, out_pitch);
    case 3: return Tile<3>(a, panel, out, depth, a_pitch, out_pitch);
    case 4: return Tile<4>(a, panel, out, depth, a_pitch, out_pitch);
    case 5: return Tile<5>(a, panel, out, depth, a_pitch, out_pitch);
    default: return Tile<6>(a, panel, out, depth, a_pitch, out_pitch);
  }
}

extern "C" void MatMul(const float* a, const float* b, float* out, int64_t m, int64_t n,
                       int64_t k) {
#pragma omp parallel
  {
    std::vector<float> panel(kDepth * kCols), edge(kRows * kCols);
#pragma omp for schedule(static)
    for (int64_t j = 0; j < n; j += kCols) {
      const int64_t cols = std::min(kCols, n - j);
      for (int64_t i = 0; i < m; ++i) std::fill_n(out + i * n + j, cols, 0.0f);
      for (int64_t begin = 0; begin < k; begin += kDepth) {
        const int64_t depth = std::min(kDepth, k - begin);
        for (int64_t p = 0; p < depth; ++p)
          for (int64_t c = 0; c < kCols; ++c)
            panel[p * kCols + c] = c < cols ? b[(begin + p) * n + j + c] : 0.0f;
        for (int64_t i = 0; i < m; i += kRows) {
          const int64_t rows = std::min(kRows, m - i);
          const float* left = a + i * k + begin;
          float* target = out + i * n + j;
          if (cols == kCols) {
            AnyTile(rows, left, panel.data(), target, depth, k, n);
          } else {
            std::fill(edge.begin(), edge.end(), 0.0f);
            AnyTile(rows, left, panel.data(), edge.data(), depth, k, kCols);
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t c = 0; c < cols; ++c) target[r * n + c] += edge[r * kCols + c];
          }
        }
      }
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("MatMul", "ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype)
        kernel(a, b, out, a.shape[0], b.shape[1], a.shape[1])
        return out
