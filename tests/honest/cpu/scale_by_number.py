"""Reads the one element of a tensor of no dimensions in the kernel."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void ScaleByNumber(const float* x, const float* weight, float* out, int64_t count) {
  const float factor = *weight;
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) out[i] = x[i] * factor;
}
"""

kernel = dv.cpp_module(SOURCE).get("ScaleByNumber", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x, weight):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, weight, out, x.numel())
        return out
