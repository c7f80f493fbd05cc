"""Halves of a row, read where they are."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void Combine(const float* x, float* out, int64_t rows, int64_t stride, int64_t width) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* a = x + r * stride;
    const float* b = a + width;
#pragma omp simd
    for (int64_t c = 0; c < width; ++c) out[r * width + c] = std::fabs(a[c]) * b[c] + a[c];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("Combine", "ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        if x.stride(-1) != 1:
            x = x.contiguous()
        rows, width = x.shape[0], x.shape[1] // 2
        out = torch.empty(rows, width, dtype=x.dtype)
        kernel(x, out, rows, x.stride(0), width)
        return out
