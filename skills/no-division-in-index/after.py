"""Frozen batch norm and ReLU with one loop per dimension."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" void BatchNormRelu(const float* x, const float* weight, const float* bias,
                              const float* mean, const float* variance, float* out, float eps,
                              int64_t batch, int64_t channels, int64_t area) {
  std::vector<float> scales(channels);
  for (int64_t c = 0; c < channels; ++c) scales[c] = weight[c] / std::sqrt(variance[c] + eps);
  const float* scale = scales.data();
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t c = 0; c < channels; ++c) {
      const float* in = x + (b * channels + c) * area;
      float* plane = out + (b * channels + c) * area;
      const float center = mean[c], factor = scale[c], shift = bias[c];
#pragma omp simd
      for (int64_t i = 0; i < area; ++i) {
        const float y = (in[i] - center) * factor + shift;
        plane[i] = y < 0.0f ? 0.0f : y;
      }
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get(
    "BatchNormRelu", "ptr ptr ptr ptr ptr ptr f32 i64 i64 i64"
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels, eps=1e-3)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        norm = self.norm
        out = torch.empty_like(x)
        kernel(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, out, norm.eps,
               batch, channels, height * width)
        return out
