"""Depthwise 7x7 convolution, one output per thread."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kSize = 7;
constexpr int kHalo = kSize / 2;

extern "C" __global__ void __launch_bounds__(256)
    Depthwise(const float* __restrict__ x, const float* __restrict__ weight,
              const float* __restrict__ bias, float* __restrict__ out, int channels, int height,
              int width, int tiles_x, int tiles) {
  const int plane = blockIdx.x / tiles, tile = blockIdx.x % tiles;
  const int c = plane % channels;
  const int ox = tile % tiles_x * 32 + threadIdx.x;
  const int oy = tile / tiles_x * blockDim.y + threadIdx.y;
  if (ox >= width || oy >= height) return;
  const float* in = x + static_cast<long long>(plane) * height * width;
  const float* w = weight + c * kSize * kSize;
  float sum = bias[c];
#pragma unroll
  for (int k = 0; k < kSize; ++k)
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      const int y = oy + k - kHalo, i = ox + j - kHalo;
      if (y >= 0 && y < height && i >= 0 && i < width) sum += in[y * width + i] * w[k * kSize + j];
    }
  out[static_cast<long long>(plane) * height * width + oy * width + ox] = sum;
}
"""

kernel = dv.cuda_module(SOURCE).get("Depthwise", "ptr ptr ptr ptr i32 i32 i32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=7, padding=3, groups=channels)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        tiles_x = (width + 31) // 32
        tiles = tiles_x * ((height + 7) // 8)
        kernel[(batch * channels * tiles, 1, 1), (32, 8, 1)](
            x, self.conv.weight, self.conv.bias, out, channels, height, width, tiles_x, tiles
        )
        return out
