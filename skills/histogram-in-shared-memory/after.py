"""Label counts in a table per block, merged at its end."""
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

extern "C" __global__ void __launch_bounds__(256)
    CountLabelsPrivate(const long long* __restrict__ labels, unsigned long long* out,
                       long long count, int bins) {
  extern __shared__ unsigned counts[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    atomicAdd(&counts[labels[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (counts[b] != 0) atomicAdd(&out[b], static_cast<unsigned long long>(counts[b]));
}
"""

module = dv.cuda_module(SOURCE)
count_global = module.get("CountLabels", "ptr ptr i64")
count_private = module.get("CountLabelsPrivate", "ptr ptr i64 i32")


class ModelNew(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins

    def forward(self, labels):
        labels = labels.contiguous()
        count = labels.numel()
        out = torch.zeros(self.bins, dtype=torch.int64, device=labels.device)
        blocks = min((count + 255) // 256, 1056)
        if self.bins <= 12288:  # the table fits into 48 KiB
            kernel = count_private[(blocks, 1, 1), (256, 1, 1)]
            kernel(labels, out, count, self.bins, shared=self.bins * 4)
        else:
            count_global[(blocks, 1, 1), (256, 1, 1)](labels, out, count)
        return out
