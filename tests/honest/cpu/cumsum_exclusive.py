"""Exclusive prefix sum without the shifted copy; four rows hide the latency of the adds."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <algorithm>
#include <cstdint>

extern "C" void CumsumExclusive(const float* x, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < rows; first += 4) {
    const int64_t n = std::min<int64_t>(4, rows - first);
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    if (n == 4) {
      const float* in = x + first * cols;
      float* row = out + first * cols;
      for (int64_t c = 0; c < cols; ++c)
        for (int64_t k = 0; k < 4; ++k) {
          row[k * cols + c] = static_cast<float>(sum[k]);
          sum[k] += in[k * cols + c];
        }
      continue;
    }
    for (int64_t k = 0; k < n; ++k)
      for (int64_t c = 0; c < cols; ++c) {
        out[(first + k) * cols + c] = static_cast<float>(sum[k]);
        sum[k] += x[(first + k) * cols + c];
      }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("CumsumExclusive", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.shape[0], x.shape[1])
        return out
