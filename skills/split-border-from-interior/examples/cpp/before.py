"""A bounds check per tap."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

static inline float Point(const float* in, const float* taps, int64_t height, int64_t width,
                          int64_t y, int64_t x) {
  float sum = 0.0f;
  for (int64_t k = 0; k < 3; ++k)
    for (int64_t j = 0; j < 3; ++j) {
      const int64_t yy = y + k - 1, xx = x + j - 1;
      if (yy >= 0 && yy < height && xx >= 0 && xx < width)
        sum += in[yy * width + xx] * taps[k * 3 + j];
    }
  return sum;
}

extern "C" void Filter(const float* x, const float* taps, float* out, int64_t planes,
                       int64_t height, int64_t width) {
#pragma omp parallel for schedule(static)
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t i = 0; i < width; ++i)
        out[(p * height + y) * width + i] =
            Point(x + p * height * width, taps, height, width, y, i);
}
"""

kernel = dv.cpp_module(SOURCE).get("Filter", "ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.taps = nn.Parameter(torch.randn(3, 3))

    def forward(self, x):
        x = x.contiguous()
        planes, height, width = x.shape
        out = torch.empty_like(x)
        kernel(x, self.taps, out, planes, height, width)
        return out
