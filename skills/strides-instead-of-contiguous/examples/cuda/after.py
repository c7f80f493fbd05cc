"""Halves of a row, read where they are."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    Combine(const float* __restrict__ x, float* __restrict__ out, long long stride, int width) {
  const float* a = x + blockIdx.x * stride;
  const float* b = a + width;
  float* row = out + static_cast<long long>(blockIdx.x) * width;
  for (int c = blockIdx.y * 1024 + threadIdx.x; c < min(width, (blockIdx.y + 1) * 1024); c += 256)
    row[c] = fabsf(a[c]) * b[c] + a[c];
}
"""

kernel = dv.cuda_module(SOURCE).get("Combine", "ptr ptr i64 i32")


class ModelNew(nn.Module):
    def forward(self, x):
        if x.stride(-1) != 1:
            x = x.contiguous()
        rows, width = x.shape[0], x.shape[1] // 2
        out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
        kernel[(rows, (width + 1023) // 1024, 1), (256, 1, 1)](x, out, x.stride(0), width)
        return out
