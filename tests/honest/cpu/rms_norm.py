"""RMS norm, one read for the sum of squares and one for the scaling."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void RmsNorm(const float* x, const float* gain, float* out, float eps, int64_t rows,
                        int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    float squares = 0.0f;
#pragma omp simd reduction(+ : squares)
    for (int64_t c = 0; c < cols; ++c) squares += in[c] * in[c];
    const float inverse = 1.0f / std::sqrt(squares / cols + eps);
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) row[c] = in[c] * inverse * gain[c];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("RmsNorm", "ptr ptr ptr f32 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, self.gain, out, self.eps, x.numel() // x.shape[-1], x.shape[-1])
        return out
