"""One block per row; the row's bins live in shared memory while values are added atomically."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    ScatterAdd(const float* base, const long long* index, const float* values, float* out,
               int count, int bins) {
  extern __shared__ float row[];
  const long long r = blockIdx.x;
  for (int b = threadIdx.x; b < bins; b += blockDim.x) row[b] = base[r * bins + b];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    atomicAdd(&row[index[r * count + i]], values[r * count + i]);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) out[r * bins + b] = row[b];
}
"""

kernel = dv.cuda_module(SOURCE).get("ScatterAdd", "ptr ptr ptr ptr i32 i32")


class ModelNew(nn.Module):
    def forward(self, base, index, values):
        base, index, values = base.contiguous(), index.contiguous(), values.contiguous()
        rows, bins = base.shape
        if bins > 12288:  # beyond the shared memory of a block
            return base.scatter_add(1, index, values)
        out = torch.empty_like(base)
        kernel[(rows, 1, 1), (256, 1, 1)](
            base, index, values, out, index.shape[1], bins, shared=bins * 4
        )
        return out
