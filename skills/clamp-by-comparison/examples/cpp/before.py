"""Clamp by fmin and fmax, NaN kept by a test."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void ClampSquare(const float* x, float* out, float low, float high, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const float y = std::isnan(x[i]) ? x[i] : std::fmin(std::fmax(x[i], low), high);
    out[i] = y * y - x[i];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ClampSquare", "ptr ptr f32 f32 i64")


class ModelNew(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, self.low, self.high, x.numel())
        return out
