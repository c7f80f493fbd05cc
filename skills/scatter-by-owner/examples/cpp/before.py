"""index_add with source rows shared out over threads, which meet in atomics."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void AddRows(const float* x, const int64_t* index, const float* source, float* out,
                        int64_t rows, int64_t picks, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows * cols; ++i) out[i] = x[i];
#pragma omp parallel for schedule(static)
  for (int64_t pick = 0; pick < picks; ++pick) {
    float* to = out + index[pick] * cols;
    const float* from = source + pick * cols;
    for (int64_t col = 0; col < cols; ++col) {
#pragma omp atomic
      to[col] += from[col];
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("AddRows", "ptr ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def forward(self, x, index, source):
        x, index, source = x.contiguous(), index.contiguous(), source.contiguous()
        out = torch.empty_like(x)
        kernel(x, index, source, out, x.shape[0], index.numel(), x.shape[1])
        return out
