"""Scale and shift per channel, one plane per grid row: 64-bit base, 32-bit offsets."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    AffineRelu(const float* __restrict__ x, const float* __restrict__ scale,
               const float* __restrict__ shift, float* __restrict__ out, int channels, int area) {
  const int i = blockIdx.x * 256 + threadIdx.x, c = blockIdx.y % channels;
  if (i >= area) return;
  const long long base = static_cast<long long>(blockIdx.y) * area;
  const float y = x[base + i] * scale[c] + shift[c];
  out[base + i] = y < 0.0f ? 0.0f : y;
}
"""

kernel = dv.cuda_module(SOURCE).get("AffineRelu", "ptr ptr ptr ptr i32 i32")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(channels))
        self.shift = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        area = height * width
        out = torch.empty_like(x)
        kernel[((area + 255) // 256, batch * channels, 1), (256, 1, 1)](x, self.scale, self.shift, out, channels, area)
        return out
