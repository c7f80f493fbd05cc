"""Scale, mask and softmax in a pass each."""
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

extern "C" void Scale(const float* x, float* out, float scale, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) out[i] = x[i] * scale;
}

extern "C" void Mask(const float* x, const uint8_t* keep, float* out, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) out[i] = keep[i] != 0 ? x[i] : -INFINITY;
}

extern "C" void Softmax(const float* x, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    float top = in[0];
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < cols; ++j) top = in[j] > top ? in[j] : top;
    float total = 0.0f;
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < cols; ++j) {
      row[j] = FastExp(in[j] - top);
      total += row[j];
    }
    const float inverse = 1.0f / total;
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) row[j] *= inverse;
  }
}
"""

module = dv.cpp_module(SOURCE)
scale = module.get("Scale", "ptr ptr f32 i64")
mask = module.get("Mask", "ptr ptr ptr i64")
softmax = module.get("Softmax", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, keep):
        scores, keep = scores.contiguous(), keep.contiguous()
        rows, cols = scores.shape
        out = torch.empty_like(scores)
        scaled, masked = torch.empty_like(scores), torch.empty_like(scores)
        scale(scores, scaled, self.scale, scores.numel())
        mask(scaled, keep, masked, scores.numel())
        softmax(masked, out, rows, cols)
        return out
