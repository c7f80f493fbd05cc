"""Depthwise convolution whose filter size is an argument."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

// Rows are copied into a zero-padded buffer, so that no tap needs a bounds check.
static void Planes(const float* x, const float* w, const float* bias, float* out,
                   int64_t planes, int64_t channels, int64_t height, int64_t width, int64_t size) {
  const int64_t half = size / 2, stride = width + 2 * half;
#pragma omp parallel
  {
    std::vector<float> padded(stride * (height + 2 * half));
#pragma omp for schedule(static)
    for (int64_t p = 0; p < planes; ++p) {
      const int64_t c = p % channels;
      for (int64_t y = 0; y < height; ++y)
        std::memcpy(&padded[(y + half) * stride + half], x + (p * height + y) * width,
                    width * sizeof(float));
      const float* taps = w + c * size * size;
      const float shift = bias[c];
      for (int64_t y = 0; y < height; ++y) {
        const float* in = &padded[y * stride];
        float* row = out + (p * height + y) * width;
#pragma omp simd
        for (int64_t i = 0; i < width; ++i) {
          float sum = shift;
          for (int64_t k = 0; k < size; ++k)
            for (int64_t j = 0; j < size; ++j) sum += in[k * stride + i + j] * taps[k * size + j];
          row[i] = sum;
        }
      }
    }
  }
}

extern "C" void Depthwise(const float* x, const float* w, const float* bias, float* out,
                          int64_t planes, int64_t channels, int64_t height, int64_t width,
                          int64_t size) {
  Planes(x, w, bias, out, planes, channels, height, width, size);
}
"""

kernel = dv.cpp_module(SOURCE).get("Depthwise", "ptr ptr ptr ptr i64 i64 i64 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        kernel(x, self.conv.weight, self.conv.bias, out, batch * channels, channels, height, width,
               3)
        return out
