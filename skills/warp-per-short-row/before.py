"""Cosine similarity of row pairs, a block per pair and a tree in shared memory."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    Cosine(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
           float eps, int rows, int cols) {
  __shared__ float dot[kThreads], left[kThreads], right[kThreads];
  const int t = threadIdx.x;
  const long long base = static_cast<long long>(blockIdx.x) * cols;
  float xy = 0.0f, xx = 0.0f, yy = 0.0f;
  for (int c = t; c < cols; c += kThreads) {
    const float a = x[base + c], b = y[base + c];
    xy += a * b;
    xx += a * a;
    yy += b * b;
  }
  dot[t] = xy;
  left[t] = xx;
  right[t] = yy;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      dot[t] += dot[t + half];
      left[t] += left[t + half];
      right[t] += right[t + half];
    }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = dot[0] / (sqrtf(left[0] + eps) * sqrtf(right[0] + eps));
}
"""

kernel = dv.cuda_module(SOURCE).get("Cosine", "ptr ptr ptr f32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        rows, cols = x.shape
        out = torch.empty(rows, dtype=x.dtype, device=x.device)
        kernel[(rows, 1, 1), (256, 1, 1)](x, y, out, self.eps, rows, cols)
        return out
