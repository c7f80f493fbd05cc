import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void BiasSquareRelu(const float* x, const float* bias, float* out, int64_t rows,
                               int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      float v = in[c] + bias[c];
      v = v < 0.0f ? 0.0f : v;  // keeps NaN, as relu does
      row[c] = v * v;
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("BiasSquareRelu", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, self.bias, out, x.numel() // x.shape[-1], x.shape[-1])
        return out
