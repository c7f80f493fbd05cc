"""Layer norm with mean and variance in two sweeps over a row that stays in cache."""
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
    float sum = 0.0f, squares = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < cols; ++c) sum += in[c];
    const float mean = sum / static_cast<float>(cols);
#pragma omp simd reduction(+ : squares)
    for (int64_t c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
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
