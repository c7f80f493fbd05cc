"""The whole activation chain in one kernel."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void HardswishChain(const float* __restrict__ x, float* __restrict__ out,
                                          float slope, long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= count) return;
  const float shifted = x[i] + 0.5f;
  float gate = shifted + 3.0f;
  gate = gate < 0.0f ? 0.0f : gate;
  gate = gate > 6.0f ? 6.0f : gate;
  const float y = shifted * gate / 6.0f - 0.25f;
  out[i] = (y > 0.0f ? y : slope * y) * x[i];
}
"""

kernel = dv.cuda_module(SOURCE).get("HardswishChain", "ptr ptr f32 i64")


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        x = x.contiguous()
        count = x.numel()
        grid = ((count + 255) // 256, 1, 1)
        out = torch.empty_like(x)
        kernel[grid, (256, 1, 1)](x, out, self.slope, count)
        return out
