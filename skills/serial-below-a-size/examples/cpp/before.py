"""Threads for every step."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void Update(float* x, const float* drive, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i)
    x[i] = x[i] * 0.75f + drive[i];
}
"""

kernel = dv.cpp_module(SOURCE).get("Update", "ptr ptr i64")


class ModelNew(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def forward(self, x, drive):
        drive = drive.contiguous()
        out = x.clone(memory_format=torch.contiguous_format)
        for _ in range(self.steps):
            kernel(out, drive, x.numel())
        return out
