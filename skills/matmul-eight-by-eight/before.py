"""Scaled batched matrix product, a 32 by 32 tile per block and one element per thread."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kTile = 32;

extern "C" __global__ void __launch_bounds__(kTile * kTile)
    BatchedProduct(const float* __restrict__ a, const float* __restrict__ b,
                   float* __restrict__ out, float scale, int m, int n, int k) {
  __shared__ float as[kTile][kTile];
  __shared__ float bs[kTile][kTile];
  const int tx = threadIdx.x % kTile, ty = threadIdx.x / kTile;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  a += static_cast<long long>(blockIdx.z) * m * k;
  b += static_cast<long long>(blockIdx.z) * k * n;
  float sum = 0.0f;
  for (int base = 0; base < k; base += kTile) {
    as[ty][tx] = row < m && base + tx < k ? a[static_cast<long long>(row) * k + base + tx] : 0.0f;
    bs[ty][tx] = col < n && base + ty < k ? b[static_cast<long long>(base + ty) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kTile; ++p) sum += as[ty][p] * bs[p][tx];
    __syncthreads();
  }
  if (row < m && col < n)
    out[(static_cast<long long>(blockIdx.z) * m + row) * n + col] = scale * sum;
}
"""

kernel = dv.cuda_module(SOURCE).get("BatchedProduct", "ptr ptr ptr f32 i32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        batch, m, k = a.shape
        n = b.shape[2]
        out = torch.empty(batch, m, n, dtype=a.dtype, device=a.device)
        grid = ((n + 31) // 32, (m + 31) // 32, batch)
        kernel[grid, (1024, 1, 1)](a, b, out, self.scale, m, n, k)
        return out
