"""A bf16 gate through float32 copies."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>
#include <cstring>

extern "C" void ReluGate(const float* x, const float* gate, float* out, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const float g = gate[i];
    out[i] = (g < 0.0f ? 0.0f : g) * x[i];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ReluGate", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x, gate):
        x, gate = x.contiguous(), gate.contiguous()
        x, gate = x.float(), gate.float()
        out = torch.empty_like(x)
        kernel(x, gate, out, x.numel())
        return out.to(torch.bfloat16)
