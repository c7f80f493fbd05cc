"""The activation chain in one pass over memory."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
__device__ __forceinline__ float Chain(float x, float slope) {
  const float shifted = x + 0.5f;
  float gate = shifted + 3.0f;
  gate = gate < 0.0f ? 0.0f : gate;  // not fmaxf, which would drop a NaN
  gate = gate > 6.0f ? 6.0f : gate;
  const float y = shifted * gate * (1.0f / 6.0f) - 0.25f;
  return (y > 0.0f ? y : slope * y) * x;
}

extern "C" __global__ void __launch_bounds__(256)
    HardswishChain(const float* x, float* out, float slope, long long count) {
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i + 4 <= count) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(Chain(v.x, slope), Chain(v.y, slope),
                                                      Chain(v.z, slope), Chain(v.w, slope));
  } else {
    for (long long k = i; k < count; ++k) out[k] = Chain(x[k], slope);
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("HardswishChain", "ptr ptr f32 i64")


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        x = x.contiguous()
        if x.data_ptr() % 16:  # the kernel reads four floats at a time
            x = x.clone()
        out = torch.empty_like(x)
        kernel[((x.numel() + 1023) // 1024, 1, 1), (256, 1, 1)](x, out, self.slope, x.numel())
        return out
