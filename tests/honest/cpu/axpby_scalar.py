"""Scaled sum with the scalar handed to the kernel by value."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void Axpby(const float* x, const float* y, float* out, float alpha, float beta,
                      int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) out[i] = alpha * x[i] + beta * y[i] * y[i];
}
"""

kernel = dv.cpp_module(SOURCE).get("Axpby", "ptr ptr ptr f32 f32 i64")


class ModelNew(nn.Module):
    def forward(self, x, y, alpha):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x)
        kernel(x, y, out, alpha, 1.0 - alpha, x.numel())
        return out
