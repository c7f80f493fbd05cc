"""Direct convolution with everything behind it fused, one output per thread."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    ConvBlock(const float* __restrict__ x, const float* __restrict__ w,
              const float* __restrict__ bias, const float* __restrict__ scale,
              float* __restrict__ out, int channels, int height, int width) {
  const int i = blockIdx.x * 256 + threadIdx.x, area = height * width;
  if (i >= area) return;
  const int plane = blockIdx.y, b = plane / channels, c = plane % channels;
  const int oy = i / width, ox = i % width;
  float sum = bias[c];
  for (int p = 0; p < channels; ++p) {
    const float* in = x + static_cast<long long>(b * channels + p) * area;
    const float* taps = w + (c * channels + p) * 9;
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int y = oy + k - 1, xx = ox + j - 1;
        if (y >= 0 && y < height && xx >= 0 && xx < width) sum += in[y * width + xx] * taps[k * 3 + j];
      }
  }
  const long long at = static_cast<long long>(plane) * area + i;
  out[at] = (sum < 0.0f ? 0.1f * sum : sum) * scale[c] + x[at];
}
"""

kernel = dv.cuda_module(SOURCE).get("ConvBlock", "ptr ptr ptr ptr ptr i32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.scale = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        kernel[((height * width + 255) // 256, batch * channels, 1), (256, 1, 1)](
            x, self.conv.weight, self.conv.bias, self.scale, out, channels, height, width)
        return out
