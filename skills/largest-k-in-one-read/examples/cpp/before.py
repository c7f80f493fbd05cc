"""The largest elements of rows, a pass over the row for each."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <vector>

constexpr int64_t kLargest = 8;

// NaN is larger than every number.
static inline bool Larger(float a, float b) { return a > b || (a != a && b == b); }

extern "C" void Largest(const float* x, float* values, int64_t* indices, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * cols;
    std::vector<char> taken(cols);
    for (int64_t k = 0; k < kLargest; ++k) {
      int64_t place = -1;
      for (int64_t col = 0; col < cols; ++col)
        if (!taken[col] && (place < 0 || Larger(from[col], from[place]))) place = col;
      taken[place] = 1;
      values[row * kLargest + k] = from[place];
      indices[row * kLargest + k] = place;
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
