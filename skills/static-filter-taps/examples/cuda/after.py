"""Depthwise convolution whose filter size is a template parameter."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
template <int kSize>
__device__ __forceinline__ void Strip(const float* __restrict__ x, const float* __restrict__ w,
                                      const float* __restrict__ bias, float* __restrict__ out,
                                      int channels, int height, int width) {
  const int plane = blockIdx.z, c = plane % channels, half = kSize / 2;
  const int ox = blockIdx.x * 32 + threadIdx.x;
  const float* in = x + static_cast<long long>(plane) * height * width;
  float taps[kSize * kSize];
#pragma unroll
  for (int t = 0; t < kSize * kSize; ++t) taps[t] = w[c * kSize * kSize + t];
  for (int s = 0; s < 4; ++s) {
    const int oy = blockIdx.y * 32 + s * 8 + threadIdx.y;
    if (oy >= height || ox >= width) continue;
    float sum = bias[c];
#pragma unroll
    for (int k = 0; k < kSize; ++k)
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        const int y = oy + k - half, i = ox + j - half;
        if (y >= 0 && y < height && i >= 0 && i < width) sum += in[y * width + i] * taps[k * kSize + j];
      }
    out[static_cast<long long>(plane) * height * width + oy * width + ox] =
        sum / (1.0f + __expf(-sum));
  }
}

extern "C" __global__ void __launch_bounds__(256)
    Depthwise(const float* __restrict__ x, const float* __restrict__ w,
              const float* __restrict__ bias, float* __restrict__ out, int channels, int height,
              int width, int size) {
  Strip<3>(x, w, bias, out, channels, height, width);
}
"""

kernel = dv.cuda_module(SOURCE).get("Depthwise", "ptr ptr ptr ptr i32 i32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        grid = ((width + 31) // 32, (height + 31) // 32, batch * channels)
        kernel[grid, (32, 8, 1)](x, self.conv.weight, self.conv.bias, out, channels, height, width, 3)
        return out
