"""Eight small tensors in one launch."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void ScaleTanh(
    const float* __restrict__ scale, const float* in0, const float* in1, const float* in2,
    const float* in3, const float* in4, const float* in5, const float* in6, const float* in7,
    float* out0, float* out1, float* out2, float* out3, float* out4, float* out5, float* out6,
    float* out7, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7) {
  const float* const ins[8] = {in0, in1, in2, in3, in4, in5, in6, in7};
  float* const outs[8] = {out0, out1, out2, out3, out4, out5, out6, out7};
  const int counts[8] = {n0, n1, n2, n3, n4, n5, n6, n7};
  const int i = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    if (blockIdx.y == k && i < counts[k]) outs[k][i] = tanhf(ins[k][i] * scale[k]);
}
"""

kernel = dv.cuda_module(SOURCE).get("ScaleTanh", "ptr " + "ptr " * 16 + "i32 " * 8)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8) + 0.5)

    def forward(self, *parts):
        parts = [x.contiguous() for x in parts]
        outs = [torch.empty_like(x) for x in parts]
        counts = [x.numel() for x in parts]
        kernel[((max(counts) + 255) // 256, 8, 1), (256, 1, 1)](self.scale, *parts, *outs, *counts)
        return tuple(outs)
