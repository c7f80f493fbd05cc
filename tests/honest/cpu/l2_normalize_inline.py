"""Row normalisation; the functions are exposed through a dict with a docstring."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <ATen/Parallel.h>
#include <torch/extension.h>

#include <algorithm>
#include <cmath>

torch::Tensor l2_normalize(const torch::Tensor& x, double floor) {
  auto in = x.contiguous();
  auto out = torch::empty_like(in);
  const int64_t cols = in.size(1);
  auto source = in.accessor<float, 2>();
  auto target = out.accessor<float, 2>();
  at::parallel_for(0, in.size(0), 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = source[r].data();
      float squares = 0.0f;
#pragma GCC ivdep
      for (int64_t c = 0; c < cols; c += 512) {
        float part = 0.0f;
        for (int64_t i = c; i < std::min(cols, c + 512); ++i) part += row[i] * row[i];
        squares += part;
      }
      const float root = std::sqrt(squares);
      const float norm = root < static_cast<float>(floor) ? static_cast<float>(floor) : root;
      float* result = target[r].data();
      for (int64_t c = 0; c < cols; ++c) result[c] = row[c] / norm;
    }
  });
  return out;
}
"""

extension = load_inline(
    name="l2_normalize_cpp",
    cpp_sources=SOURCE,
    functions={"l2_normalize": "divide every row by its Euclidean norm"},
    extra_cflags=["-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros",
                  "-fno-trapping-math"],
)


class ModelNew(nn.Module):
    def __init__(self, floor):
        super().__init__()
        self.floor = floor

    def forward(self, x):
        return extension.l2_normalize(x, self.floor)
