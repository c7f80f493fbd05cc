"""Row softmax whose exponential is a polynomial that vectorises."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>

static inline float TimesPowerOfTwo(float y, int k) {
  const int32_t bits = (k + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return y * scale;
}

// exp(x) within 2 ulp and without branches, so that loops over it vectorise.
static inline float Exp(float x) {
  float c = x < -104.0f ? -104.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const float n = rintf(c * 1.44269504f);
  float r = fmaf(n, -0.693145752f, c);
  r = fmaf(n, -1.42860677e-6f, r);
  float p = 1.98756915e-4f;
  p = fmaf(p, r, 1.39819995e-3f);
  p = fmaf(p, r, 8.33345191e-3f);
  p = fmaf(p, r, 4.16657960e-2f);
  p = fmaf(p, r, 1.66666657e-1f);
  p = fmaf(p, r, 0.5f);
  const float y = fmaf(p * r, r, r) + 1.0f;
  const int k = static_cast<int>(n);
  const int half = k >> 1;  // two factors, because 2^k alone may not be a normal number
  return TimesPowerOfTwo(TimesPowerOfTwo(y, half), k - half);
}

extern "C" void SoftmaxRows(const float* x, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* row = out + r * cols;
    float top = -INFINITY;
#pragma omp simd reduction(max : top)
    for (int64_t c = 0; c < cols; ++c) top = in[c] > top ? in[c] : top;
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < cols; ++c) {
      row[c] = Exp(in[c] - top);
      sum += row[c];
    }
    const float inverse = 1.0f / sum;
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) row[c] *= inverse;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("SoftmaxRows", "ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, out, x.numel() // x.shape[-1], x.shape[-1])
        return out
