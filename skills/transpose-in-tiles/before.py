"""Transpose that writes whole rows and reads down the columns."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void ChannelsLast(const float* x, const float* gain, float* out, int64_t batch,
                             int64_t channels, int64_t length) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t l = 0; l < length; ++l) {
      const float* in = x + b * channels * length + l;
      float* row = out + (b * length + l) * channels;
      for (int64_t c = 0; c < channels; ++c) row[c] = in[c * length] * gain[c];
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ChannelsLast", "ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        batch, channels, length = x.shape
        out = torch.empty(batch, length, channels, dtype=x.dtype)
        kernel(x, self.gain, out, batch, channels, length)
        return out
