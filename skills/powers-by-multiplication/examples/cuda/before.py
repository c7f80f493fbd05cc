"""The cube by powf."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    Cubic(const float* __restrict__ x, float* __restrict__ out, long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < count) out[i] = 0.7978845608f * (x[i] + 0.044715f * powf(x[i], 3.0f));
}
"""

kernel = dv.cuda_module(SOURCE).get("Cubic", "ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel[((x.numel() + 255) // 256, 1, 1), (256, 1, 1)](x, out, x.numel())
        return out
