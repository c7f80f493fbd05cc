"""Layer norm in three loops over the row."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
__device__ __forceinline__ float BlockSum(float value) {
  __shared__ float parts[32];
  for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(~0u, value, s);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : 0.0f;
  for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(~0u, value, s);
  return value;
}

extern "C" __global__ void __launch_bounds__(1024)
    LayerNorm(const float* __restrict__ x, const float* __restrict__ gain,
              const float* __restrict__ shift, float* __restrict__ out, int width, float eps) {
  const float* in = x + static_cast<long long>(blockIdx.x) * width;
  float* row = out + static_cast<long long>(blockIdx.x) * width;
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < width; i += 1024) sum += in[i];
  const float mean = BlockSum(sum) / width;
  float squares = 0.0f;
  for (int i = t; i < width; i += 1024) squares += (in[i] - mean) * (in[i] - mean);
  const float rstd = rsqrtf(BlockSum(squares) / width + eps);
  for (int i = t; i < width; i += 1024) row[i] = (in[i] - mean) * rstd * gain[i] + shift[i];
}
"""

kernel = dv.cuda_module(SOURCE).get("LayerNorm", "ptr ptr ptr ptr i32 f32")


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-5)

    def forward(self, x):
        x = x.contiguous()
        tokens, width = x.shape
        norm = self.norm
        out = torch.empty_like(x)
        kernel[(tokens, 1, 1), (1024, 1, 1)](x, norm.weight, norm.bias, out, width, norm.eps)
        return out
