"""Argmax by comparing (value, index) pairs; the lower index wins a tie and a NaN beats all."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kThreads = 256;

struct Best {
  float value;
  int index;
};

__device__ __forceinline__ bool Beats(const Best& a, const Best& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.value != b.value) return a.value > b.value;
  return a.index < b.index;
}

__device__ __forceinline__ Best WarpBest(Best best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    Best other;
    other.value = __shfl_xor_sync(0xffffffffu, best.value, offset);
    other.index = __shfl_xor_sync(0xffffffffu, best.index, offset);
    if (Beats(other, best)) best = other;
  }
  return best;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    ArgmaxRows(const float* x, long long* out, int cols) {
  const float* in = x + static_cast<long long>(blockIdx.x) * cols;
  Best best = {-__int_as_float(0x7f800000), 0x7fffffff};
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const Best candidate = {in[c], c};
    if (Beats(candidate, best)) best = candidate;
  }
  __shared__ Best partial[kThreads / 32];
  best = WarpBest(best);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < kThreads / 32; ++w)
      if (Beats(partial[w], best)) best = partial[w];
    out[blockIdx.x] = best.index;
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("ArgmaxRows", "ptr ptr i32")


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        kernel[(x.shape[0], 1, 1), (256, 1, 1)](x, out, x.shape[1])
        return out
