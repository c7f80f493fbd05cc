"""Prefix sum of every row, eight elements at a time."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>
#include <cstring>

typedef float Vec __attribute__((vector_size(32)));
typedef int32_t Index __attribute__((vector_size(32)));

extern "C" void CumsumRows(const float* x, float* out, int64_t rows, int64_t cols) {
  // Indices below 8 name lanes of the first operand (zeros), the others lanes of the second.
  const Index by1 = {0, 8, 9, 10, 11, 12, 13, 14};
  const Index by2 = {0, 0, 8, 9, 10, 11, 12, 13};
  const Index by4 = {0, 0, 0, 0, 8, 9, 10, 11};
  const Vec zero = {};
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    double sum = 0.0;
    int64_t c = 0;
    for (; c + 8 <= cols; c += 8) {
      Vec v;
      std::memcpy(&v, in + c, sizeof v);
      v += __builtin_shuffle(zero, v, by1);
      v += __builtin_shuffle(zero, v, by2);
      v += __builtin_shuffle(zero, v, by4);
      const Vec y = v + static_cast<float>(sum);
      std::memcpy(row + c, &y, sizeof y);
      sum += v[7];
    }
    for (; c < cols; ++c) {
      sum += in[c];
      row[c] = static_cast<float>(sum);
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("CumsumRows", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.shape[0], x.shape[1])
        return out
