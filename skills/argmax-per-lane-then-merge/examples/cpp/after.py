"""Row argmax with best value and index per lane, merged once."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

constexpr int kLanes = 32;

extern "C" void ArgmaxRows(const float* x, int64_t* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float best[kLanes];
    int32_t at[kLanes];
    const int64_t whole = cols / kLanes * kLanes;
    int64_t index = 0;
    float top = row[0];
    if (whole > 0) {
      for (int l = 0; l < kLanes; ++l) best[l] = row[l], at[l] = 0;
      for (int64_t j = kLanes; j < whole; j += kLanes) {
#pragma omp simd
        for (int l = 0; l < kLanes; ++l) {
          const float v = row[j + l];
          const bool better = (v > best[l]) | ((v != v) & (best[l] == best[l]));
          best[l] = better ? v : best[l];
          at[l] = better ? static_cast<int32_t>(j) : at[l];
        }
      }
      for (int l = 0; l < kLanes; ++l) {
        const int64_t candidate = at[l] + l;
        const bool nan = best[l] != best[l], top_nan = top != top;
        const bool equal = nan ? top_nan : best[l] == top;
        if ((!top_nan && (nan || best[l] > top)) || (equal && candidate < index)) {
          top = best[l];
          index = candidate;
        }
      }
    }
    for (int64_t j = whole; j < cols; ++j)
      if (row[j] > top || (row[j] != row[j] && top == top)) top = row[j], index = j;
    out[r] = index;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ArgmaxRows", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.empty(rows, dtype=torch.int64)
        kernel(x, out, rows, cols)
        return out
