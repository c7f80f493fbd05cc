"""Prefix product with the factors computed on the fly; the binding is written by hand."""
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

at::Tensor CumprodSafe(const at::Tensor& x, double spread) {
  TORCH_CHECK(x.dim() == 2 && x.scalar_type() == at::kFloat, "expected a float matrix");
  const at::Tensor in = x.contiguous();
  at::Tensor out = at::empty_like(in);
  const int64_t cols = in.size(1);
  const float* source = in.const_data_ptr<float>();
  float* target = out.mutable_data_ptr<float>();
  at::parallel_for(0, in.size(0), 8, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* row = target + r * cols;
      const float factor = static_cast<float>(spread);
      for (int64_t c = 0; c < cols; ++c) row[c] = 1.0f + factor * Tanh(source[r * cols + c]);
      double product = 1.0;
      for (int64_t c = 0; c < cols; ++c) {
        product *= row[c];
        row[c] = static_cast<float>(product);
      }
    }
  });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("run", &CumprodSafe, "prefix product of 1 + spread * tanh(x)", py::arg("x"),
        py::arg("spread"));
}
"""

extension = load_inline(name="cumprod_safe_cpp", cpp_sources=SOURCE,
                        extra_cflags=["-O3", "-march=native"])


class ModelNew(nn.Module):
    def __init__(self, spread):
        super().__init__()
        self.spread = spread

    def forward(self, x):
        return extension.run(x, spread=self.spread)
