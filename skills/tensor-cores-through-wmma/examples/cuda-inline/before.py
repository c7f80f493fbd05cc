"""A float16 product on FMA units, 4 by 4 results per thread."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    Product(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ out,
            int m, int n, int k) {
  __shared__ __half as[kTile][kDepth + 8];
  __shared__ __half bs[kDepth][kTile + 8];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float sum[4][4] = {};
  for (int base = 0; base < k; base += kDepth) {
    for (int i = t; i < kTile * kDepth; i += kThreads) {
      const int r = i / kDepth, p = i % kDepth;
      as[r][p] = row0 + r < m && base + p < k
                     ? a[static_cast<long long>(row0 + r) * k + base + p] : __float2half(0.0f);
      const int q = i / kTile, c = i % kTile;
      bs[q][c] = base + q < k && col0 + c < n
                     ? b[static_cast<long long>(base + q) * n + col0 + c] : __float2half(0.0f);
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float left[4], right[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) left[i] = __half2float(as[ty * 4 + i][p]);
#pragma unroll
      for (int j = 0; j < 4; ++j) right[j] = __half2float(bs[p][tx + 16 * j]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty * 4 + i, col = col0 + tx + 16 * j;
      if (row < m && col < n) out[static_cast<long long>(row) * n + col] = __float2half_rn(sum[i][j]);
    }
}

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  a = a.contiguous();
  b = b.contiguous();
  const int m = a.size(0), k = a.size(1), n = b.size(1);
  auto out = torch::empty({m, n}, a.options());
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  Product<<<grid, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const __half*>(a.data_ptr()), reinterpret_cast<const __half*>(b.data_ptr()),
      reinterpret_cast<__half*>(out.data_ptr()), m, n, k);
  return out;
}
"""

extension = load_inline(
    name="half_product_fma",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["product"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.product(a, b)
