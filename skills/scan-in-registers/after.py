"""Prefix sum of every row: four elements per thread in registers, lanes by shuffles, then warps."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 4;

extern "C" __global__ void __launch_bounds__(kThreads)
    Cumsum(const float* __restrict__ x, float* __restrict__ out, int cols, bool wide) {
  __shared__ float totals[2][kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long row = static_cast<long long>(blockIdx.x) * cols;
  float carry = 0.0f;
  int turn = 0;
  for (int base = 0; base < cols; base += kThreads * kItems) {
    const int c = base + threadIdx.x * kItems;
    float v[kItems] = {};
    if (wide) {
      if (c < cols) {
        const float4 four = *reinterpret_cast<const float4*>(x + row + c);
        v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i)
        if (c + i < cols) v[i] = x[row + c + i];
    }
#pragma unroll
    for (int i = 1; i < kItems; ++i) v[i] += v[i - 1];
    float sum = v[kItems - 1];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) totals[turn][warp] = sum;
    const float left = __shfl_up_sync(0xffffffffu, sum, 1);
    __syncthreads();  // the next tile writes the other buffer: one barrier is enough
    float before = carry;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float total = totals[turn][w];
      if (w < warp) before += total;
      carry += total;
    }
    turn ^= 1;
    if (lane > 0) before += left;
    if (wide) {
      if (c < cols)
        *reinterpret_cast<float4*>(out + row + c) =
            make_float4(before + v[0], before + v[1], before + v[2], before + v[3]);
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i)
        if (c + i < cols) out[row + c + i] = before + v[i];
    }
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("Cumsum", "ptr ptr i32 bool")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.empty_like(x)
        wide = cols % 4 == 0 and x.data_ptr() % 16 == 0 and out.data_ptr() % 16 == 0
        kernel[(rows, 1, 1), (256, 1, 1)](x, out, cols, wide)
        return out
