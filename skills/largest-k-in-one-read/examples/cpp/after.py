"""The largest elements of rows in one pass over each."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

constexpr int64_t kLargest = 8;

// NaN is larger than every number.
static inline bool Larger(float a, float b) { return a > b || (a != a && b == b); }

extern "C" void Largest(const float* x, float* values, int64_t* indices, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * cols;
    float best[kLargest];
    int64_t place[kLargest];
    int64_t count = 0;
    for (int64_t col = 0; col < cols; ++col) {
      if (count == kLargest && !Larger(from[col], best[kLargest - 1])) continue;
      int64_t at = count < kLargest ? count++ : kLargest - 1;
      for (; at > 0 && Larger(from[col], best[at - 1]); --at) {
        best[at] = best[at - 1];
        place[at] = place[at - 1];
      }
      best[at] = from[col];
      place[at] = col;
    }
    for (int64_t k = 0; k < kLargest; ++k) {
      values[row * kLargest + k] = best[k];
      indices[row * kLargest + k] = place[k];
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("Largest", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        values = torch.empty(rows, 8, dtype=x.dtype, device=x.device)
        indices = torch.empty(rows, 8, dtype=torch.int64, device=x.device)
        kernel(x, values, indices, rows, cols)
        return values, indices
