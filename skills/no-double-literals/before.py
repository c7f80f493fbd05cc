"""Exact GELU, scale and bias in one kernel."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    GeluScaleBias(const float* __restrict__ x, const float* __restrict__ scale,
                  const float* __restrict__ bias, float* __restrict__ out, int features) {
  const int c = blockIdx.y * 256 + threadIdx.x;
  if (c >= features) return;
  const long long i = static_cast<long long>(blockIdx.x) * features + c;
  const float v = x[i];
  out[i] = 0.5 * v * (1.0 + erf(v * 0.7071067811865476)) * scale[c] + bias[c];
}
"""

kernel = dv.cuda_module(SOURCE).get("GeluScaleBias", "ptr ptr ptr ptr i32")


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        x = x.contiguous()
        rows, features = x.shape
        out = torch.empty_like(x)
        grid = (rows, (features + 255) // 256, 1)
        kernel[grid, (256, 1, 1)](x, self.scale, self.bias, out, features)
        return out
