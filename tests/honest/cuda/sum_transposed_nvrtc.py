"""Row sums that follow the strides: neighbouring threads read neighbouring addresses."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
// For a transposed input: 32 rows per block side by side, eight partial sums for each.
extern "C" __global__ void __launch_bounds__(256)
    SumTransposed(const float* x, float* out, int rows, int cols, long long col_stride) {
  __shared__ float partial[8][33];
  const int lane = threadIdx.x % 32, slice = threadIdx.x / 32;
  const int r = blockIdx.x * 32 + lane;
  float sum = 0.0f;
  if (r < rows) {
#pragma unroll 8
    for (int c = slice; c < cols; c += 8) sum += x[c * col_stride + r];
  }
  partial[slice][lane] = sum;
  __syncthreads();
  if (slice == 0 && r < rows) {
    for (int s = 1; s < 8; ++s) sum += partial[s][lane];
    out[r] = sum;
  }
}

// For rows that are contiguous: one warp per row.
extern "C" __global__ void __launch_bounds__(256)
    SumRows(const float* x, float* out, int rows, int cols, long long row_stride) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int c = threadIdx.x % 32; c < cols; c += 32) sum += x[r * row_stride + c];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) out[r] = sum;
}
"""

module = dv.cuda_module(SOURCE)
sum_transposed = module.get("SumTransposed", "ptr ptr i32 i32 i64")
sum_rows = module.get("SumRows", "ptr ptr i32 i32 i64")


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.empty(rows, dtype=x.dtype, device=x.device)
        if x.stride(0) == 1 and cols > 1:
            grid = ((rows + 31) // 32, 1, 1)
            sum_transposed[grid, (256, 1, 1)](x, out, rows, cols, x.stride(1))
        else:
            x = x.contiguous()
            sum_rows[((rows + 7) // 8, 1, 1), (256, 1, 1)](x, out, rows, cols, x.stride(0))
        return out
