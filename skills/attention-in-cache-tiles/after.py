"""Attention in tiles of 64 queries and 64 keys with an online softmax."""
import torch
import torch.nn as nn

import davinci_runtime as dv

FLAGS = ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
SOURCE = r"""
#include <bit>
#include <cmath>
#include <cstdint>
#include <algorithm>
#include <memory>

// 2^n e^r, the factor 2^n in two parts: the result overflows and vanishes where it should.
static inline float PowerOfTwo(int n) { return std::bit_cast<float>((n + 127) << 23); }
static inline float ExpOfRest(float r) {  // e^r - 1
  float p = 1.98756915e-4f;
  p = std::fma(p, r, 1.39819995e-3f);
  p = std::fma(p, r, 8.33345191e-3f);
  p = std::fma(p, r, 4.16657960e-2f);
  p = std::fma(p, r, 1.66666657e-1f);
  p = std::fma(p, r, 0.5f);
  return std::fma(p * r, r, r);
}
static inline float Exp(float x) {
  const bool gone = x < -104.0f;  // and no product becomes a denormal, which would be slow
  float c = gone ? 0.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const float n = std::rint(c * 1.44269504f);
  float r = std::fma(n, -0.693145752f, c);
  r = std::fma(n, -1.42860677e-6f, r);
  const int k = static_cast<int>(n);
  const int half = k >> 1;
  const float y = (ExpOfRest(r) + 1.0f) * PowerOfTwo(half) * PowerOfTwo(k - half);
  return gone ? 0.0f : y;
}

// As many floats as a register of the machine holds, and rows whose sums stay in registers.
#ifdef __AVX512F__
constexpr int kWide = 16, kTall = 8;
#else
constexpr int kWide = 8, kTall = 4;
#endif
typedef float Wide __attribute__((vector_size(4 * kWide), aligned(4), may_alias));
template <int kStrip>
__attribute__((optimize("fp-contract=fast"))) static void MultiplyAddStrip(
    const float* a, int64_t row, int64_t step, const float* b, int64_t ldb, float* c, int64_t ldc,
    int64_t rows, int64_t inner) {
  for (int64_t i = 0; i < rows; i += kTall) {
    Wide sum[kTall][kStrip];
    for (int r = 0; r < kTall; ++r)
      for (int s = 0; s < kStrip; ++s)
        sum[r][s] = *reinterpret_cast<const Wide*>(c + (i + r) * ldc + s * kWide);
    for (int64_t p = 0; p < inner; ++p)
      for (int s = 0; s < kStrip; ++s) {
        const Wide right = *reinterpret_cast<const Wide*>(b + p * ldb + s * kWide);
        for (int r = 0; r < kTall; ++r) sum[r][s] += a[(i + r) * row + p * step] * right;
      }
    for (int r = 0; r < kTall; ++r)
      for (int s = 0; s < kStrip; ++s)
        *reinterpret_cast<Wide*>(c + (i + r) * ldc + s * kWide) = sum[r][s];
  }
}
// c += a b; `rows` is a multiple of 8, `cols` of 16; a's element (i, p) is a[i row + p step].
static inline void MultiplyAdd(const float* a, int64_t row, int64_t step, const float* b,
                               int64_t ldb, float* c, int64_t ldc, int64_t rows, int64_t inner,
                               int64_t cols) {
  int64_t j = 0;
  for (; j + 2 * kWide <= cols; j += 2 * kWide)
    MultiplyAddStrip<2>(a, row, step, b + j, ldb, c + j, ldc, rows, inner);
  for (; j < cols; j += kWide)
    MultiplyAddStrip<1>(a, row, step, b + j, ldb, c + j, ldc, rows, inner);
}

extern "C" void Attention(const float* q, const float* k, const float* v, float* out, int64_t q_batch, int64_t q_head, int64_t q_row, int64_t q_dim, int64_t k_batch, int64_t k_head, int64_t k_row, int64_t k_dim, int64_t v_batch, int64_t v_head, int64_t v_row, int64_t v_dim, int64_t out_batch, int64_t out_head, int64_t out_row, int64_t out_dim, int64_t batches, int64_t heads, int64_t queries, int64_t keys, int64_t dim, float scale) {
  constexpr int64_t kRows = 64, kCols = 64;  // queries and keys of a tile
  const int64_t width = (dim + 15) / 16 * 16, blocks = (queries + kRows - 1) / kRows;
#pragma omp parallel for schedule(static) if (parallel : batches * heads * queries * keys > 4096)
  for (int64_t task = 0; task < batches * heads * blocks; ++task) {
    const int64_t batch = task / (heads * blocks), head = task / blocks % heads, first = task % blocks * kRows;
    const int64_t rows = queries - first < kRows ? queries - first : kRows, lanes = (rows + 15) / 16 * 16;
    const auto memory = std::make_unique<float[]>(dim * kRows + kRows * width + 2 * kCols * width);
    float *turned = memory.get(), *mixed = turned + dim * kRows, *key_tile = mixed + kRows * width, *value_tile = key_tile + kCols * width;
    float scores[kCols * kRows], top[kRows], higher[kRows], shrink[kRows], total[kRows];
    std::fill(top, top + kRows, -3e38f);
    std::fill(total, total + kRows, 0.0f);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t d = 0; d < dim; ++d)
        turned[d * kRows + i] = q[batch * q_batch + head * q_head + (first + i) * q_row + d * q_dim] * scale;
    for (int64_t start = 0; start < keys; start += kCols) {
      const int64_t cols = keys - start < kCols ? keys - start : kCols;
      const auto* key_from = k + batch * k_batch + (head) * k_head + start * k_row;
      const auto* value_from = v + batch * v_batch + (head) * v_head + start * v_row;
      const float *key = key_tile, *value = value_tile;
      int64_t key_row = width, value_row = width;
      // Whole tiles are read where they lie.
      if (cols == kCols && k_dim == 1) key = key_from, key_row = k_row;
      if (cols == kCols && v_dim == 1 && width == dim) value = value_from, value_row = v_row;
      if (key == key_tile)
        for (int64_t j = 0; j < kCols; ++j)
          for (int64_t d = 0; d < dim; ++d) key_tile[j * width + d] = j < cols ? static_cast<float>(key_from[j * k_row + d * k_dim]) : 0.0f;
      if (value == value_tile)
        for (int64_t j = 0; j < kCols; ++j)
          for (int64_t d = 0; d < dim; ++d) value_tile[j * width + d] = j < cols ? static_cast<float>(value_from[j * v_row + d * v_dim]) : 0.0f;
      // Keys by queries: what follows runs along the queries.
      std::fill(scores, scores + kCols * kRows, 0.0f);
      MultiplyAdd(key, key_row, 1, turned, kRows, scores, kRows, kCols, dim, lanes);
      std::fill(scores + cols * kRows, scores + kCols * kRows, -INFINITY);
      std::copy(top, top + kRows, higher);
      for (int64_t j = 0; j < cols; ++j)
#pragma omp simd
        for (int64_t i = 0; i < lanes; ++i) higher[i] = scores[j * kRows + i] > higher[i] ? scores[j * kRows + i] : higher[i];
#pragma omp simd
      for (int64_t i = 0; i < lanes; ++i) {
        shrink[i] = Exp(top[i] - higher[i]);
        total[i] *= shrink[i];
        top[i] = higher[i];
      }
      for (int64_t j = 0; j < kCols; ++j)
#pragma omp simd
        for (int64_t i = 0; i < lanes; ++i) {
          const float weight = Exp(scores[j * kRows + i] - higher[i]);
          scores[j * kRows + i] = weight;
          total[i] += weight;
        }
      for (int64_t i = 0; i < rows; ++i)
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) mixed[i * width + d] *= shrink[i];
      MultiplyAdd(scores, 1, kRows, value, value_row, mixed, width, (rows + 7) / 8 * 8, kCols, width);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const float share = 1.0f / total[i];
      for (int64_t d = 0; d < dim; ++d)
        out[batch * out_batch + head * out_head + (first + i) * out_row + d * out_dim] = mixed[i * width + d] * share;
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE, FLAGS).get("Attention", "ptr ptr ptr ptr i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 f32")


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        out = torch.empty_like(q)
        batch, heads, seq, dim = q.shape
        kernel(q, k, v, out, *q.stride(), *k.stride(), *v.stride(), *out.stride(), batch, heads, seq, k.shape[2], dim, dim**-0.5)
        return out
