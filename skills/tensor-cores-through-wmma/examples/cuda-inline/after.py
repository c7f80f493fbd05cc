"""A float16 product on tensor cores, 32 by 32 results per warp."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <torch/extension.h>

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kThreads = 128;
namespace wmma = nvcuda::wmma;

__global__ void __launch_bounds__(kThreads)
    Product(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ out,
            int m, int n, int k) {
  __shared__ __align__(32) __half as[kTile][kDepth + 8];
  __shared__ __align__(32) __half bs[kDepth][kTile + 8];
  __shared__ __align__(32) float tile[kTile][kTile + 4];
  const int t = threadIdx.x, warp = t / 32;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int row = warp / 2 * 32, col = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
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
    for (int p = 0; p < kDepth; p += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &as[row + 16 * i][p], kDepth + 8);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[j], &bs[p][col + 16 * j], kTile + 8);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(&tile[row + 16 * i][col + 16 * j], sum[i][j], kTile + 4,
                              wmma::mem_row_major);
  __syncthreads();
  for (int i = t; i < kTile * kTile; i += kThreads) {
    const int r = i / kTile, c = i % kTile;
    if (row0 + r < m && col0 + c < n)
      out[static_cast<long long>(row0 + r) * n + col0 + c] = __float2half_rn(tile[r][c]);
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
    name="half_product_wmma",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["product"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.product(a, b)
