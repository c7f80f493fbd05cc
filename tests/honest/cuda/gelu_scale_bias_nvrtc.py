"""GELU, scale and bias in one pass; four elements per thread when the width allows it."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
__device__ __forceinline__ float Apply(float x, float scale, float bias) {
  return 0.5f * x * (1.0f + erff(x * 0.70710678f)) * scale + bias;
}

extern "C" __global__ void __launch_bounds__(256)
    GeluScaleBias(const float* x, const float* scale, const float* bias, float* out,
                  long long count, int cols) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (cols % 4 == 0) {
    const float4* x4 = reinterpret_cast<const float4*>(x);
    const float4* scale4 = reinterpret_cast<const float4*>(scale);
    const float4* bias4 = reinterpret_cast<const float4*>(bias);
    float4* out4 = reinterpret_cast<float4*>(out);
    for (long long i = first; i < count / 4; i += stride) {
      const int c = static_cast<int>(i % (cols / 4));
      const float4 v = x4[i], s = scale4[c], b = bias4[c];
      out4[i] = make_float4(Apply(v.x, s.x, b.x), Apply(v.y, s.y, b.y), Apply(v.z, s.z, b.z),
                            Apply(v.w, s.w, b.w));
    }
  } else {
    for (long long i = first; i < count; i += stride) {
      const int c = static_cast<int>(i % cols);
      out[i] = Apply(x[i], scale[c], bias[c]);
    }
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("GeluScaleBias", "ptr ptr ptr ptr i64 i32")


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        x = x.contiguous()
        if x.data_ptr() % 16:  # the kernel reads four floats at a time
            x = x.clone()
        out = torch.empty_like(x)
        blocks = min((x.numel() + 1023) // 1024, 132 * 64)
        kernel[(blocks, 1, 1), (256, 1, 1)](
            x, self.scale, self.bias, out, x.numel(), x.shape[1]
        )
        return out
