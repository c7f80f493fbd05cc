"""One block per row of the matrix; four floats at a time when the row length allows it."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    MatVec(const float* a, const float* x, float* out, int cols) {
  const float* row = a + static_cast<long long>(blockIdx.x) * cols;
  float sum = 0.0f;
  if (cols % 4 == 0) {
    const float4* row4 = reinterpret_cast<const float4*>(row);
    const float4* x4 = reinterpret_cast<const float4*>(x);
#pragma unroll 4
    for (int c = threadIdx.x; c < cols / 4; c += 256) {
      const float4 p = row4[c], q = x4[c];
      sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  } else {
    for (int c = threadIdx.x; c < cols; c += 256) sum += row[c] * x[c];
  }
  __shared__ float partial[8];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += partial[w];
    out[blockIdx.x] = sum;
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("MatVec", "ptr ptr ptr i32")


class ModelNew(nn.Module):
    def forward(self, a, x):
        a, x = a.contiguous(), x.contiguous()
        if a.data_ptr() % 16 or x.data_ptr() % 16:  # the kernel reads four floats at a time
            a, x = a.clone(), x.clone()
        out = torch.empty(a.shape[0], dtype=a.dtype, device=a.device)
        kernel[(a.shape[0], 1, 1), (256, 1, 1)](a, x, out, a.shape[1])
        return out
