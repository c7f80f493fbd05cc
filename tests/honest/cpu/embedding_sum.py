"""Sums embedding rows into the output without the gathered copy."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void EmbeddingSum(const float* table, const int64_t* indices, float* out,
                             int64_t samples, int64_t bag, int64_t width) {
#pragma omp parallel for schedule(static)
  for (int64_t s = 0; s < samples; ++s) {
    float* row = out + s * width;
    for (int64_t c = 0; c < width; ++c) row[c] = 0.0f;
    for (int64_t k = 0; k < bag; ++k) {
      const float* source = table + indices[s * bag + k] * width;
#pragma omp simd
      for (int64_t c = 0; c < width; ++c) row[c] += source[c];
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("EmbeddingSum", "ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        indices = indices.contiguous()
        samples, bag = indices.shape
        weight = self.table.weight
        out = torch.empty(samples, weight.shape[1], dtype=weight.dtype)
        kernel(weight, indices, out, samples, bag, weight.shape[1])
        return out
