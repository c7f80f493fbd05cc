"""Mean and maximum of every row from the same load."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void RowMeanMax(const float* x, float* mean, float* top, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0.0f, best = x[r * cols];
#pragma omp simd reduction(+ : sum) reduction(max : best)
    for (int64_t j = 0; j < cols; ++j) {
      const float v = x[r * cols + j];
      sum += v;
      best = v > best ? v : best;
    }
    mean[r] = sum / cols;
    top[r] = best;
    if (sum != sum)  // NaN, or +inf and -inf: look again
      for (int64_t j = 0; j < cols; ++j)
        if (x[r * cols + j] != x[r * cols + j]) top[r] = x[r * cols + j];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("RowMeanMax", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        mean = torch.empty(rows, dtype=x.dtype)
        top = torch.empty_like(mean)
        kernel(x, mean, top, rows, cols)
        return mean, top
