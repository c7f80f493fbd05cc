"""GELU by std::erf."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void Gelu(const float* x, float* out, int64_t count) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i)
    out[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
}
"""

kernel = dv.cpp_module(SOURCE).get("Gelu", "ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.numel())
        return out
