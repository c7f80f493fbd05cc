"""Sum of embedding rows, one column after the other."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void BagSum(const int64_t* indices, const float* table, float* out, int64_t samples,
                       int64_t bag, int64_t width) {
#pragma omp parallel for schedule(static)
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t* list = indices + s * bag;
    float* sum = out + s * width;
    for (int64_t c = 0; c < width; ++c) {
      float total = 0.0f;
      for (int64_t b = 0; b < bag; ++b) total += table[list[b] * width + c];
      sum[c] = total;
    }
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("BagSum", "ptr ptr ptr i64 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        indices = indices.contiguous()
        samples, bag = indices.shape
        width = self.table.embedding_dim
        out = torch.empty(samples, width, dtype=self.table.weight.dtype)
        kernel(indices, self.table.weight, out, samples, bag, width)
        return out
