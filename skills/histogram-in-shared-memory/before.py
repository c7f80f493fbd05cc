"""Label counts by one global atomic per element."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    CountLabels(const long long* __restrict__ labels, unsigned long long* out, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    atomicAdd(&out[labels[i]], 1ull);
}
"""

kernel = dv.cuda_module(SOURCE).get("CountLabels", "ptr ptr i64")


class ModelNew(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, labels):
        labels = labels.contiguous()
        count = labels.numel()
        out = torch.zeros(self.bins, dtype=torch.int64, device=labels.device)
        blocks = min((count + 255) // 256, 1056)
        kernel[(blocks, 1, 1), (256, 1, 1)](labels, out, count)
        return out
