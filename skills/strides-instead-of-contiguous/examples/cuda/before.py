"""Halves of a row, copied to be contiguous."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    Combine(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
            long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < count) out[i] = fabsf(a[i]) * b[i] + a[i];
}
"""

kernel = dv.cuda_module(SOURCE).get("Combine", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        a, b = a.contiguous(), b.contiguous()
        out = torch.empty_like(a)
        kernel[((a.numel() + 255) // 256, 1, 1), (256, 1, 1)](a, b, out, a.numel())
        return out
