"""Scatter-add where each row belongs to one thread, so no atomics are needed."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>
#include <cstring>

extern "C" void ScatterAdd(const float* base, const int64_t* index, const float* values,
                           float* out, int64_t rows, int64_t count, int64_t bins) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    float* row = out + r * bins;
    std::memcpy(row, base + r * bins, sizeof(float) * bins);
    for (int64_t i = 0; i < count; ++i) row[index[r * count + i]] += values[r * count + i];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ScatterAdd", "ptr ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def forward(self, base, index, values):
        base, index, values = base.contiguous(), index.contiguous(), values.contiguous()
        out = torch.empty_like(base)
        kernel(base, index, values, out, base.shape[0], index.shape[1], base.shape[1])
        return out
