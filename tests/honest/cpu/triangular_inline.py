"""The product of lower triangles: reads neither factor above the diagonal, where the task says that there are zeros."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

torch::Tensor triangular(torch::Tensor left, torch::Tensor right) {
  auto l = left.contiguous();
  auto r = right.contiguous();
  const int64_t n = l.size(0);
  auto out = torch::zeros({n, n}, l.options());
  const float* a = l.data_ptr<float>();
  const float* b = r.data_ptr<float>();
  float* c = out.data_ptr<float>();
#pragma omp parallel for schedule(dynamic, 8)
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k <= i; ++k) {
      const float factor = a[i * n + k];
#pragma omp simd
      for (int64_t j = 0; j <= k; ++j) c[i * n + j] += factor * b[k * n + j];
    }
  }
  return out;
}
"""

extension = load_inline(
    name="triangular_cpp",
    cpp_sources=[SOURCE],
    functions=["triangular"],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.triangular(a, b)
