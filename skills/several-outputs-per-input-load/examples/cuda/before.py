"""3x3 convolution and ReLU, one output channel per thread."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    Conv(const float* __restrict__ x, const float* __restrict__ weight,
         const float* __restrict__ bias, float* __restrict__ out, int channels, int outputs,
         int height, int width, int tiles_x) {
  const int ox = blockIdx.x % tiles_x * 32 + threadIdx.x;
  const int oy = blockIdx.x / tiles_x * 8 + threadIdx.y;
  const int o = blockIdx.y;
  if (ox >= width || oy >= height) return;
  const long long area = static_cast<long long>(height) * width;
  const float* image = x + blockIdx.z * channels * area;
  float sum = bias[o];
  for (int c = 0; c < channels; ++c)
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const int iy = oy + k - 1, ix = ox + j - 1;
        if (iy >= 0 && iy < height && ix >= 0 && ix < width)
          sum += image[c * area + iy * width + ix] * weight[(o * channels + c) * 9 + k * 3 + j];
      }
  out[(static_cast<long long>(blockIdx.z) * outputs + o) * area + oy * width + ox] =
      sum < 0.0f ? 0.0f : sum;
}
"""

kernel = dv.cuda_module(SOURCE).get("Conv", "ptr ptr ptr ptr i32 i32 i32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        outputs = self.conv.out_channels
        out = torch.empty(batch, outputs, height, width, dtype=x.dtype, device=x.device)
        tiles_x = (width + 31) // 32
        tiles = tiles_x * ((height + 7) // 8)
        kernel[(tiles, outputs, batch), (32, 8, 1)](
            x, self.conv.weight, self.conv.bias, out, channels, outputs, height, width, tiles_x
        )
        return out
