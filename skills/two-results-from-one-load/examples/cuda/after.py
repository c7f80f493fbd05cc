"""Mean and maximum of every row from the same load."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#define INFINITY __int_as_float(0x7f800000)

__device__ __forceinline__ float WarpSum(float v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  return v;
}
__device__ __forceinline__ float WarpMax(float v) {
  for (int s = 16; s > 0; s /= 2) {
    const float other = __shfl_xor_sync(~0u, v, s);
    v = other > v || other != other ? other : v;
  }
  return v;
}

extern "C" __global__ void __launch_bounds__(256)
    RowMeanMax(const float* __restrict__ x, float* __restrict__ mean,
               float* __restrict__ top, int cols) {
  __shared__ float sums[8], tops[8];
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  const int t = threadIdx.x;
  float sum = 0.0f, best = -INFINITY;
#pragma unroll 8
  for (int i = t; i < cols; i += 256) {
    const float v = row[i];
    sum += v;
    best = v > best || v != v ? v : best;
  }
  sum = WarpSum(sum);
  best = WarpMax(best);
  if (t % 32 == 0) sums[t / 32] = sum, tops[t / 32] = best;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < 8; ++w) {
      sum += sums[w];
      best = tops[w] > best || tops[w] != tops[w] ? tops[w] : best;
    }
    mean[blockIdx.x] = sum / cols;
    top[blockIdx.x] = best;
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("RowMeanMax", "ptr ptr ptr i32")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        mean = torch.empty(rows, dtype=x.dtype, device=x.device)
        top = torch.empty_like(mean)
        kernel[(rows, 1, 1), (256, 1, 1)](x, mean, top, cols)
        return mean, top
