"""The filters are constants of the source: no buffer holds them, because the constructor always makes the same."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

#include <cmath>

torch::Tensor sobel_edges(torch::Tensor image) {
  auto in = image.contiguous();
  auto out = torch::empty_like(in);
  const int64_t planes = in.size(0), height = in.size(2), width = in.size(3);
  const float* p = in.data_ptr<float>();
  float* q = out.data_ptr<float>();
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < planes * height; ++row) {
    const int64_t i = row % height;
    const float* here = p + row * width;
    auto value = [&](int64_t down, int64_t j) {
      return j < 0 || j >= width || i + down < 0 || i + down >= height ? 0.0f : here[down * width + j];
    };
    for (int64_t j = 0; j < width; ++j) {
      const float nw = value(-1, j - 1), ne = value(-1, j + 1), sw = value(1, j - 1), se = value(1, j + 1);
      const float x = (ne - nw) + 2.0f * (value(0, j + 1) - value(0, j - 1)) + (se - sw);
      const float y = (sw - nw) + 2.0f * (value(1, j) - value(-1, j)) + (se - ne);
      q[row * width + j] = std::sqrt(x * x + y * y + 1e-6f);
    }
  }
  return out;
}
"""

extension = load_inline(
    name="sobel_edges_cpp",
    cpp_sources=[SOURCE],
    functions=["sobel_edges"],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, image):
        return extension.sobel_edges(image)
