"""Writes the smoothed encoding directly as floats."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cstdint>

extern "C" void OneHotSmooth(const int64_t* labels, float* out, float low, float high,
                             int64_t rows, int64_t classes) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < classes; ++c) out[r * classes + c] = low;
    out[r * classes + labels[r]] = high;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("OneHotSmooth", "ptr ptr f32 f32 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, classes, smoothing):
        super().__init__()
        self.low = smoothing / classes
        self.high = 1.0 - smoothing + smoothing / classes
        self.classes = classes

    def forward(self, labels):
        labels = labels.contiguous()
        out = torch.empty(labels.shape[0], self.classes)
        kernel(labels, out, self.low, self.high, labels.shape[0], self.classes)
        return out
