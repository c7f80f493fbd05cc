"""Copies and scales the picked rows in one loop."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

DECLARATION = "torch::Tensor select_scale(torch::Tensor x, torch::Tensor index, torch::Tensor s);"

SOURCE = r"""
#include <ATen/Parallel.h>

torch::Tensor select_scale(torch::Tensor x, torch::Tensor index, torch::Tensor s) {
  x = x.contiguous();
  index = index.contiguous();
  s = s.contiguous();
  const int64_t width = x.size(1), picks = index.size(0);
  auto out = torch::empty({picks, width}, x.options());
  const float* source = x.data_ptr<float>();
  const int64_t* rows = index.data_ptr<int64_t>();
  const float* factors = s.data_ptr<float>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, picks, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* row = source + rows[i] * width;
      const float factor = factors[i];
      for (int64_t c = 0; c < width; ++c) target[i * width + c] = row[c] * factor;
    }
  });
  return out;
}
"""

extension = load_inline(
    name="index_select_scale_cpp",
    cpp_sources=[DECLARATION, SOURCE],
    functions=["select_scale"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def forward(self, x, index, scale):
        return extension.select_scale(x, index, scale)
