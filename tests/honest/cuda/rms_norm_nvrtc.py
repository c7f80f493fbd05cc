"""One block per row, the row held in registers between the sum of squares and the scaling."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
constexpr int kThreads = 256;
constexpr int kHeld = 16;  // values per thread kept in registers: rows up to 4096 are read once

extern "C" __global__ void __launch_bounds__(kThreads)
    RmsNorm(const float* x, const float* gain, float* out, float eps, int cols) {
  const float* in = x + static_cast<long long>(blockIdx.x) * cols;
  float* row = out + static_cast<long long>(blockIdx.x) * cols;
  float held[kHeld];
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int c = k * kThreads + threadIdx.x;
    held[k] = c < cols ? in[c] : 0.0f;
    squares += held[k] * held[k];
  }
  for (int c = kHeld * kThreads + threadIdx.x; c < cols; c += kThreads) squares += in[c] * in[c];
  __shared__ float partial[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2)
    squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) squares += partial[w];
  const float inverse = rsqrtf(squares / cols + eps);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int c = k * kThreads + threadIdx.x;
    if (c < cols) row[c] = held[k] * inverse * gain[c];
  }
  for (int c = kHeld * kThreads + threadIdx.x; c < cols; c += kThreads)
    row[c] = in[c] * inverse * gain[c];
}
"""

kernel = dv.cuda_module(SOURCE).get("RmsNorm", "ptr ptr ptr f32 i32")


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        cols = x.shape[-1]
        kernel[(x.numel() // cols, 1, 1), (256, 1, 1)](x, self.gain, out, self.eps, cols)
        return out
