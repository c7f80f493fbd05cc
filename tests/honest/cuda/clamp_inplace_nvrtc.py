"""Scale, shift and clamp, writing over the input as the task allows."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    ScaleShiftClamp(float* x, float low, float high, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    float y = x[i] * 1.5f + 0.25f;
    y = y < low ? low : y;
    x[i] = y > high ? high : y;
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("ScaleShiftClamp", "ptr f32 f32 i64")


class ModelNew(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x):
        blocks = min((x.numel() + 255) // 256, 132 * 64)
        kernel[(blocks, 1, 1), (256, 1, 1)](x, self.low, self.high, x.numel())
        return x
