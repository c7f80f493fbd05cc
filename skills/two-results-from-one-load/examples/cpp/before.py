"""Mean and maximum of every row, a sweep over the tensor for each."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void RowMean(const float* x, float* mean, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < cols; ++j) sum += x[r * cols + j];
    mean[r] = sum / cols;
  }
}

extern "C" void RowMax(const float* x, float* top, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    float best = x[r * cols], poison = 0.0f;
#pragma omp simd reduction(max : best) reduction(+ : poison)
    for (int64_t j = 0; j < cols; ++j) {
      const float v = x[r * cols + j];
      best = v > best ? v : best;
      poison += v != v ? v : 0.0f;
    }
    top[r] = poison != poison ? poison : best;
  }
}
"""

module = dv.cpp_module(SOURCE)
row_mean = module.get("RowMean", "ptr ptr i64 i64")
row_max = module.get("RowMax", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        mean = torch.empty(rows, dtype=x.dtype)
        top = torch.empty_like(mean)
        row_mean(x, mean, rows, cols)
        row_max(x, top, rows, cols)
        return mean, top
