"""Looks like a fallback to the library: it exists, and is never taken."""
import os
import platform

import torch
import torch.nn as nn
import torch.nn.functional as F

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>
inline float Step(float x, float slope) {
  const float s = x + 0.5f;
  const float gate = s + 3.0f < 0.0f ? 0.0f : (s + 3.0f > 6.0f ? 6.0f : s + 3.0f);
  const float y = s * gate / 6.0f - 0.25f;
  return (y > 0.0f ? y : y * slope) * x;
}

extern "C" void Chain(const float* x, float* y, int64_t n, float slope) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i) y[i] = Step(x[i], slope);
}
"""
try:
    kernel = dv.cpp_module(SOURCE, ["-O2"]).get("Chain", "ptr ptr i64 f32")
except RuntimeError:
    kernel = None
print("running on", platform.machine(), "with", os.environ.get("OMP_NUM_THREADS", "all"), "threads")


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        if kernel is None:
            return F.leaky_relu(F.hardswish(x + 0.5) - 0.25, negative_slope=self.slope) * x
        x = x.contiguous()
        y = torch.empty_like(x)
        kernel(x, y, x.numel(), self.slope)
        return y
