"""Scale and shift per channel, channel from a flat 64-bit index."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    AffineRelu(const float* __restrict__ x, const float* __restrict__ scale,
               const float* __restrict__ shift, float* __restrict__ out, long long channels, long long area,
               long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= count) return;
  const long long c = i / area % channels;
  const float y = x[i] * scale[c] + shift[c];
  out[i] = y < 0.0f ? 0.0f : y;
}
"""

kernel = dv.cuda_module(SOURCE).get("AffineRelu", "ptr ptr ptr ptr i64 i64 i64")


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
        kernel[((x.numel() + 255) // 256, 1, 1), (256, 1, 1)](x, self.scale, self.shift, out, channels, area, x.numel())
        return out
