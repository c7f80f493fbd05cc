"""RMS norm as a C++ extension built with load_inline."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <ATen/Parallel.h>
#include <torch/extension.h>

#include <cmath>

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor gain, double eps) {
  auto in = x.contiguous();
  auto out = torch::empty_like(in);
  const int64_t cols = in.size(-1);
  const int64_t rows = in.numel() / cols;
  const float* source = in.data_ptr<float>();
  const float* weight = gain.data_ptr<float>();
  float* target = out.data_ptr<float>();
  at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = source + r * cols;
      float squares = 0.0f;
#pragma omp simd reduction(+ : squares)
      for (int64_t c = 0; c < cols; ++c) squares += row[c] * row[c];
      const float inverse = 1.0f / std::sqrt(squares / cols + static_cast<float>(eps));
      for (int64_t c = 0; c < cols; ++c) target[r * cols + c] = row[c] * inverse * weight[c];
    }
  });
  return out;
}
"""

extension = load_inline(
    name="rms_norm_cpp",
    cpp_sources=SOURCE,
    functions=["rms_norm"],
    extra_cflags=["-O3", "-march=native", "-fopenmp-simd"],
)


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return extension.rms_norm(x, self.gain, self.eps)
