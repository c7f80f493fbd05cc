"""Eight small tensors, a launch for each."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void ScaleTanh(const float* __restrict__ scale, const float* __restrict__ in,
                                     float* __restrict__ out, int count) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < count) out[i] = tanhf(in[i] * scale[0]);
}
"""

kernel = dv.cuda_module(SOURCE).get("ScaleTanh", "ptr ptr ptr i32")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8) + 0.5)

    def forward(self, *parts):
        parts = [x.contiguous() for x in parts]
        outs = [torch.empty_like(x) for x in parts]
        for k in range(8):
            count = parts[k].numel()
            kernel[((count + 255) // 256, 1, 1), (256, 1, 1)](self.scale[k:], parts[k], outs[k], count)
        return tuple(outs)
