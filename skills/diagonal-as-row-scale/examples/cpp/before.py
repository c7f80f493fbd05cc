"""diag(d) @ x as a product with the diagonal stored as a matrix."""
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
"""

kernel = dv.cpp_module(SOURCE).get("Product", "ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def forward(self, d, x):
        x = x.contiguous()
        n, m = x.shape
        out = torch.empty_like(x)
        kernel(torch.diag(d), x, out, n, m, n)
        return out
