"""diag(d) @ x as one scale per row."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void ScaleRows(const float* d, const float* x, float* out, int64_t n, int64_t m) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    const float scale = d[i];
#pragma omp simd
    for (int64_t j = 0; j < m; ++j) out[i * m + j] = scale * x[i * m + j];
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("ScaleRows", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, d, x):
        d, x = d.contiguous(), x.contiguous()
        n, m = x.shape
        out = torch.empty_like(x)
        kernel(d, x, out, n, m)
        return out
