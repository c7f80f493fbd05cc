"""The product stays with the vendor library; bias and GELU are applied in place on its result."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <ATen/Parallel.h>
#include <torch/extension.h>

#include <cmath>
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

// erf(x) with an absolute error near float rounding (rational approximation times a Gaussian).
static inline float Erf(float x) {
  const float magnitude = fabsf(x);
  const float t = 1.0f / fmaf(0.3275911f, magnitude, 1.0f);
  float p = 1.061405429f;
  p = fmaf(p, t, -1.453152027f);
  p = fmaf(p, t, 1.421413741f);
  p = fmaf(p, t, -0.284496736f);
  p = fmaf(p, t, 0.254829592f);
  return copysignf(1.0f - p * t * Exp(-magnitude * magnitude), x);
}

torch::Tensor linear_gelu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  auto out = at::mm(x, weight.t());
  const int64_t cols = out.size(1);
  float* data = out.data_ptr<float>();
  const float* shift = bias.data_ptr<float>();
  at::parallel_for(0, out.size(0), 8, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        const float v = data[r * cols + c] + shift[c];
        data[r * cols + c] = 0.5f * v * (1.0f + Erf(v * 0.70710678f));
      }
    }
  });
  return out;
}
"""

extension = load_inline(
    name="linear_gelu_cpp",
    cpp_sources=SOURCE,
    functions=["linear_gelu"],
    extra_cflags=["-O3", "-march=native"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        return extension.linear_gelu(x, self.proj.weight, self.proj.bias)
