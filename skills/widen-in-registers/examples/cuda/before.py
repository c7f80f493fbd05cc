"""A bf16 gate through float32 copies."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    SiluGate(const float* __restrict__ x, const float* __restrict__ gate, float* __restrict__ out,
             long long count) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= count) return;
  const float g = gate[i];
  out[i] = g / (1.0f + __expf(-g)) * x[i];
}
"""

kernel = dv.cuda_module(SOURCE).get("SiluGate", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def forward(self, x, gate):
        x, gate = x.contiguous(), gate.contiguous()
        count = x.numel()
        x, gate = x.float(), gate.float()
        out = torch.empty_like(x)
        kernel[((count + 255) // 256, 1, 1), (256, 1, 1)](x, gate, out, count)
        return out.to(torch.bfloat16)
