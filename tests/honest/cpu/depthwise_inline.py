"""Depthwise 3x3 convolution and SiLU; borders and interior share one padded row buffer."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <ATen/Parallel.h>
#include <torch/extension.h>

#include <cmath>
#include <vector>

torch::Tensor depthwise_swish(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  x = x.contiguous();
  weight = weight.contiguous();
  const int64_t channels = x.size(1), height = x.size(2), width = x.size(3);
  auto out = torch::empty_like(x);
  const float* source = x.data_ptr<float>();
  const float* filter = weight.data_ptr<float>();
  const float* shift = bias.data_ptr<float>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, x.size(0) * channels, 1, [&](int64_t begin, int64_t end) {
    const int64_t pitch = width + 2;
    std::vector<float> padded((height + 2) * pitch);
    for (int64_t p = begin; p < end; ++p) {
      std::fill(padded.begin(), padded.end(), 0.0f);
      for (int64_t y = 0; y < height; ++y)
        std::copy_n(source + (p * height + y) * width, width, &padded[(y + 1) * pitch + 1]);
      const float* f = filter + p % channels * 9;
      const float b = shift[p % channels];
      for (int64_t y = 0; y < height; ++y) {
        const float* r0 = &padded[y * pitch];
        const float* r1 = r0 + pitch;
        const float* r2 = r1 + pitch;
        float* row = target + (p * height + y) * width;
        for (int64_t i = 0; i < width; ++i) {
          row[i] = b + f[0] * r0[i] + f[1] * r0[i + 1] + f[2] * r0[i + 2] + f[3] * r1[i] +
                   f[4] * r1[i + 1] + f[5] * r1[i + 2] + f[6] * r2[i] + f[7] * r2[i + 1] +
                   f[8] * r2[i + 2];
        }
      }
    }
  });
  return out.div_(torch::exp(-out).add_(1.0));
}
"""

extension = load_inline(
    name="depthwise_swish_cpp",
    cpp_sources=SOURCE,
    functions=["depthwise_swish"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x):
        return extension.depthwise_swish(x, self.conv.weight, self.conv.bias)
