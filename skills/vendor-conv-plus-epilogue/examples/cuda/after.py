"""Library convolution, then one kernel for bias, leaky ReLU, scale and residual."""
import torch
import torch.nn as nn
import torch.nn.functional as F

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    Finish(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ bias,
           const float* __restrict__ scale, int channels, int area) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= area) return;
  const int c = blockIdx.y % channels;
  const long long at = static_cast<long long>(blockIdx.y) * area + i;
  const float value = y[at] + bias[c];
  y[at] = (value < 0.0f ? 0.1f * value : value) * scale[c] + x[at];
}
"""

kernel = dv.cuda_module(SOURCE).get("Finish", "ptr ptr ptr ptr i32 i32")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.scale = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        y = F.conv2d(x, self.conv.weight, None, padding=1).contiguous()
        area = height * width
        kernel[((area + 255) // 256, batch * channels, 1), (256, 1, 1)](
            y, x, self.conv.bias, self.scale, channels, area)
        return y
