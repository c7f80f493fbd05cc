"""Mean and maximum from one read of the rows (tuple output)."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void MeanMax(const float* x, float* mean, float* top, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float sum = 0.0f, best = -INFINITY;
#pragma omp simd reduction(+ : sum) reduction(max : best)
    for (int64_t c = 0; c < cols; ++c) {
      sum += in[c];
      best = in[c] > best ? in[c] : best;
    }
    int has_nan = 0;
    if (!(std::fabs(sum) < INFINITY))  // only then can a NaN be among the elements
      for (int64_t c = 0; c < cols; ++c) has_nan |= in[c] != in[c];
    mean[r] = sum / cols;
    top[r] = has_nan ? NAN : best;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("MeanMax", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        mean = torch.empty(x.shape[0], dtype=x.dtype)
        top = torch.empty(x.shape[0], dtype=x.dtype)
        kernel(x, mean, top, x.shape[0], x.shape[1])
        return mean, top
