"""Scale and mask while the softmax reads its row."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>

// exp for x <= 0, relative error about 2e-7; 0 below the smallest normal. NaN stays NaN.
static inline float FastExp(float x) {
  const float clamped = x < -87.33654f ? -87.33654f : x;
  const float n = std::nearbyint(clamped * 1.44269504f);
  float r = clamped - n * 0.693359375f;
  r += n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, 4);
  return x < -87.33654f ? 0.0f : p * scale;
}

extern "C" void MaskedSoftmax(const float* x, const uint8_t* keep, float* out, float scale,
                              int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    const uint8_t* use = keep + r * cols;
    float* row = out + r * cols;
    float top = -INFINITY;
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < cols; ++j) {
      const float scaled = in[j] * scale;
      const float v = static_cast<float>(use[j]) != 0.0f ? scaled : -INFINITY;
      row[j] = v;
      top = v > top ? v : top;
    }
    float total = 0.0f;
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < cols; ++j) {
      row[j] = FastExp(row[j] - top);
      total += row[j];
    }
    const float inverse = 1.0f / total;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) row[j] *= inverse;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("MaskedSoftmax", "ptr ptr ptr f32 i64 i64")


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, keep):
        scores, keep = scores.contiguous(), keep.contiguous()
        rows, cols = scores.shape
        out = torch.empty_like(scores)
        kernel(scores, keep, out, self.scale, rows, cols)
        return out
