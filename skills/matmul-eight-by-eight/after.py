"""Scaled batched matrix product, a 128 by 128 tile per block and 8 by 8 elements per thread."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kTile = 128;
constexpr int kDepth = 16;

extern "C" __global__ void __launch_bounds__(256)
    BatchedProduct(const float* __restrict__ a, const float* __restrict__ b,
                   float* __restrict__ out, float scale, int m, int n, int k) {
  __shared__ float as[kDepth][kTile + 4];
  __shared__ float bs[kDepth][kTile];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  a += static_cast<long long>(blockIdx.z) * m * k;
  b += static_cast<long long>(blockIdx.z) * k * n;
  float sum[8][8] = {};
  for (int base = 0; base < k; base += kDepth) {
#pragma unroll
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      const int p = i % kDepth, r = i / kDepth;
      as[p][r] = row0 + r < m && base + p < k
                     ? a[static_cast<long long>(row0 + r) * k + base + p] : 0.0f;
      const int c = i % kTile, q = i / kTile;
      bs[q][c] = col0 + c < n && base + q < k
                     ? b[static_cast<long long>(base + q) * n + col0 + c] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float left[8], right[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) left[i] = as[p][ty * 8 + i];
#pragma unroll
      for (int j = 0; j < 8; ++j) right[j] = bs[p][tx + j * 16];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int r = row0 + ty * 8 + i;
    if (r >= m) continue;
    float* row = out + (static_cast<long long>(blockIdx.z) * m + r) * n;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int c = col0 + tx + j * 16;
      if (c < n) row[c] = scale * sum[i][j];
    }
  }
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
        grid = ((n + 127) // 128, (m + 127) // 128, batch)
        kernel[grid, (256, 1, 1)](a, b, out, self.scale, m, n, k)
        return out
