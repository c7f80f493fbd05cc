"""1x1 convolution, one output channel after the other."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void Conv(const float* x, const float* w, const float* bias, float* out, int64_t batch,
                     int64_t ci, int64_t co, int64_t area) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t o = 0; o < co; ++o) {
      float* plane = out + (b * co + o) * area;
      for (int64_t i = 0; i < area; ++i) plane[i] = bias[o];
      for (int64_t c = 0; c < ci; ++c) {
        const float* in = x + (b * ci + c) * area;
        const float weight = w[o * ci + c];
#pragma omp simd
        for (int64_t i = 0; i < area; ++i) plane[i] += weight * in[i];
      }
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("Conv", "ptr ptr ptr ptr i64 i64 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1)

    def forward(self, x):
        x = x.contiguous()
        batch, ci, height, width = x.shape
        co = self.conv.out_channels
        out = torch.empty(batch, co, height, width, dtype=x.dtype)
        kernel(x, self.conv.weight, self.conv.bias, out, batch, ci, co, height * width)
        return out
