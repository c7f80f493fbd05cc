"""Halves of a row, copied to be contiguous."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void Combine(const float* a, const float* b, float* out, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) out[i] = std::fabs(a[i]) * b[i] + a[i];
}
"""

kernel = dv.cpp_module(SOURCE).get("Combine", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        a, b = a.contiguous(), b.contiguous()
        out = torch.empty_like(a)
        kernel(a, b, out, a.numel())
        return out
