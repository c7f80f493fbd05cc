"""Prefix sum of every row, element by element."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void CumsumRows(const float* x, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    double sum = 0.0;
    for (int64_t c = 0; c < cols; ++c) {
      sum += in[c];
      row[c] = static_cast<float>(sum);
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("CumsumRows", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.shape[0], x.shape[1])
        return out
