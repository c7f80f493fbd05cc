"""Interior without checks, border apart."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <algorithm>
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
  for (int64_t p = 0; p < planes; ++p) {
    const float* in = x + p * height * width;
    for (int64_t y = 0; y < height; ++y) {
      float* row = out + (p * height + y) * width;
      const bool inner = y > 0 && y + 1 < height;
      const int64_t first = std::min<int64_t>(inner ? 1 : width, width);
      const int64_t last = std::max(first, width - 1);
      for (int64_t i = 0; i < first; ++i) row[i] = Point(in, taps, height, width, y, i);
      if (inner) {
        const float* a = in + (y - 1) * width;
        const float* b = a + width;
        const float* c = b + width;
        const float t0 = taps[0], t1 = taps[1], t2 = taps[2], t3 = taps[3], t4 = taps[4];
        const float t5 = taps[5], t6 = taps[6], t7 = taps[7], t8 = taps[8];
#pragma omp simd
        for (int64_t i = first; i < last; ++i)
          row[i] = a[i - 1] * t0 + a[i] * t1 + a[i + 1] * t2 + b[i - 1] * t3 + b[i] * t4 +
                   b[i + 1] * t5 + c[i - 1] * t6 + c[i] * t7 + c[i + 1] * t8;
      }
      for (int64_t i = last; i < width; ++i) row[i] = Point(in, taps, height, width, y, i);
    }
  }
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
