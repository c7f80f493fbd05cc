"""Select with a bool mask; tanh is evaluated for all elements so that the loop vectorises."""
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

static inline float Tanh(float x) {
  const float magnitude = fabsf(x);
  const float square = x * x;
  float p = -5.70498872745e-3f;
  p = fmaf(p, square, 2.06390887954e-2f);
  p = fmaf(p, square, -5.37397155531e-2f);
  p = fmaf(p, square, 1.33314422036e-1f);
  p = fmaf(p, square, -3.33332819422e-1f);
  const float small = fmaf(p * square, x, x);
  const float large = copysignf(1.0f - 2.0f / (Exp(2.0f * magnitude) + 1.0f), x);
  return magnitude < 0.625f ? small : large;
}

extern "C" void MaskedBlend(const float* x, const uint8_t* keep, float* out, int64_t count) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const float other = 0.5f * Tanh(x[i]);
    out[i] = keep[i] ? x[i] : other;
  }
}
"""

kernel = dv.cpp_module(SOURCE).get("MaskedBlend", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x, keep):
        x, keep = x.contiguous(), keep.contiguous()
        out = torch.empty_like(x)
        kernel(x, keep, out, x.numel())
        return out
