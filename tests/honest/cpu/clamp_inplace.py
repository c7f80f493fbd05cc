"""Scale, shift and clamp, writing over the input as the task allows."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void ScaleShiftClamp(float* x, float low, float high, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    float y = x[i] * 1.5f + 0.25f;
    y = y < low ? low : y;
    x[i] = y > high ? high : y;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ScaleShiftClamp", "ptr f32 f32 i64")


class ModelNew(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x):
        kernel(x, self.low, self.high, x.numel())
        return x
