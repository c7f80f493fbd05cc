"""Smooth L1: the mean taken while the losses are computed."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void MeanSmoothL1(const float* prediction, const float* target, float* out, float beta,
                             int64_t count) {
  constexpr int64_t kBlock = 4096;
  double total = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = begin + kBlock < count ? begin + kBlock : count;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = begin; i < end; ++i) {
      const float distance = std::fabs(prediction[i] - target[i]);
      sum += distance < beta ? 0.5f * distance * distance / beta : distance - 0.5f * beta;
    }
    total += sum;
  }
  *out = static_cast<float>(total / static_cast<double>(count));
}
"""

kernel = dv.cpp_module(SOURCE).get("MeanSmoothL1", "ptr ptr ptr f32 i64")


class ModelNew(nn.Module):
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def forward(self, prediction, target):
        prediction, target = prediction.contiguous(), target.contiguous()
        out = torch.empty((), dtype=prediction.dtype)
        kernel(prediction, target, out, self.beta, prediction.numel())
        return out
