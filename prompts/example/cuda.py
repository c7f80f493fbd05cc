import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    BiasSquareRelu(const float* x, const float* bias, float* out, int cols, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    float v = x[i] + bias[i % cols];
    v = v < 0.0f ? 0.0f : v;  // keeps NaN, as relu does
    out[i] = v * v;
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("BiasSquareRelu", "ptr ptr ptr i32 i64")


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        blocks = min((x.numel() + 255) // 256, 65535)
        kernel[blocks, 256](x, self.bias, out, x.shape[-1], x.numel())
        return out
