"""Layer norm with Welford's running mean and variance."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void LayerNorm(const float* x, const float* weight, const float* bias, float* out,
                          float eps, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    float mean = 0.0f, squares = 0.0f;
    for (int64_t c = 0; c < cols; ++c) {
      const float difference = in[c] - mean;
      mean += difference / static_cast<float>(c + 1);
      squares += difference * (in[c] - mean);
    }
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(cols) + eps);
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) row[c] = (in[c] - mean) * scale * weight[c] + bias[c];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("LayerNorm", "ptr ptr ptr ptr f32 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-5)

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        norm = self.norm
        kernel(x, norm.weight, norm.bias, out, norm.eps, x.numel() // x.shape[-1], x.shape[-1])
        return out
