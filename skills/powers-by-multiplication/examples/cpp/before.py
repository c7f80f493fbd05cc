"""The cube by std::pow."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void Cubic(const float* x, float* out, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i)
    out[i] = 0.7978845608f * (x[i] + 0.044715f * std::pow(x[i], 3.0f));
}
"""

kernel = dv.cpp_module(SOURCE).get("Cubic", "ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.numel())
        return out
