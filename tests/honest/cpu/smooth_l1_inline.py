"""Smooth L1 with per-chunk partial sums and no intermediate tensor."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

#include <cmath>

torch::Tensor smooth_l1(torch::Tensor prediction, torch::Tensor target, double beta) {
  auto a = prediction.contiguous();
  auto b = target.contiguous();
  const float* p = a.data_ptr<float>();
  const float* t = b.data_ptr<float>();
  const int64_t count = a.numel();
  const float edge = static_cast<float>(beta);
  double total = 0.0;
#pragma omp parallel for reduction(+ : total) schedule(static)
  for (int64_t begin = 0; begin < count; begin += 1024) {
    const int64_t end = std::min<int64_t>(count, begin + 1024);
    float part = 0.0f;
#pragma omp simd reduction(+ : part)
    for (int64_t i = begin; i < end; ++i) {
      const float d = std::fabs(p[i] - t[i]);
      part += d < edge ? 0.5f * d * d / edge : d - 0.5f * edge;
    }
    total += part;
  }
  return torch::scalar_tensor(total / count, a.options());
}
"""

extension = load_inline(
    name="smooth_l1_cpp",
    cpp_sources=[SOURCE],
    functions=["smooth_l1"],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def forward(self, prediction, target):
        return extension.smooth_l1(prediction, target, self.beta)
