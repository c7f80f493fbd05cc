"""Row softmax with the exponential of the standard library."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void SoftmaxRows(const float* x, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    float top = -INFINITY;
#pragma omp simd reduction(max : top)
    for (int64_t c = 0; c < cols; ++c) top = in[c] > top ? in[c] : top;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < cols; ++c) {
      row[c] = std::exp(in[c] - top);
      sum += row[c];
    }
    const float inverse = 1.0f / sum;
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) row[c] *= inverse;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("SoftmaxRows", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.numel() // x.shape[-1], x.shape[-1])
        return out
