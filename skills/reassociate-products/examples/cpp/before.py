"""(A B) v: the matrix product first."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

// out = a * b, whole rows of b at a time.
extern "C" void Product(const float* a, const float* b, float* out, int64_t m, int64_t n,
                        int64_t k) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < m; ++i) {
    float* row = out + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = 0.0f;
    for (int64_t p = 0; p < k; ++p) {
      const float left = a[i * k + p];
      const float* right = b + p * n;
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) row[j] += left * right[j];
    }
  }
}

extern "C" void RowDots(const float* a, const float* v, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < cols; ++j) sum += a[i * cols + j] * v[j];
    out[i] = sum;
  }
}
"""

module = dv.cpp_module(SOURCE)
product = module.get("Product", "ptr ptr ptr i64 i64 i64")
row_dots = module.get("RowDots", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, a, b, v):
        a, b, v = a.contiguous(), b.contiguous(), v.contiguous()
        (m, k), n = a.shape, b.shape[1]
        out = torch.empty(m, dtype=a.dtype)
        ab = torch.empty(m, n, dtype=a.dtype)
        product(a, b, ab, m, n, k)
        row_dots(ab, v, out, m, n)
        return out
