"""Residual and ReLU on float16, eight elements per thread in loads and stores of 16 bytes."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor add_relu(torch::Tensor x, torch::Tensor residual);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

__device__ __forceinline__ __half AddRelu(__half x, __half residual) {
  const float sum = __half2float(x) + __half2float(residual);
  return __float2half_rn(sum < 0.0f ? 0.0f : sum);
}

__device__ __forceinline__ __half2 AddRelu(__half2 x, __half2 residual) {
  const float2 a = __half22float2(x), b = __half22float2(residual);
  const float low = a.x + b.x, high = a.y + b.y;
  return __floats2half2_rn(low < 0.0f ? 0.0f : low, high < 0.0f ? 0.0f : high);
}

__global__ void __launch_bounds__(256)
    AddReluSingly(const __half* __restrict__ x, const __half* __restrict__ residual,
                  __half* __restrict__ out, int64_t first, int64_t count) {
  const int64_t i = first + static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) out[i] = AddRelu(x[i], residual[i]);
}

__global__ void __launch_bounds__(256)
    AddReluByEight(const uint4* __restrict__ x, const uint4* __restrict__ residual,
                   uint4* __restrict__ out, int64_t vectors) {
  const int64_t v = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (v >= vectors) return;
  uint4 a = x[v];
  const uint4 b = residual[v];
  __half2* p = reinterpret_cast<__half2*>(&a);
  const __half2* q = reinterpret_cast<const __half2*>(&b);
#pragma unroll
  for (int j = 0; j < 4; ++j) p[j] = AddRelu(p[j], q[j]);
  out[v] = a;
}

bool Aligned(const torch::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0;
}

torch::Tensor add_relu(torch::Tensor x, torch::Tensor residual) {
  x = x.contiguous();
  residual = residual.contiguous();
  auto out = torch::empty_like(x);
  const int64_t count = x.numel();
  const bool wide = Aligned(x) && Aligned(residual) && Aligned(out);
  const int64_t vectors = wide ? count / 8 : 0, rest = count - vectors * 8;
  const auto stream = c10::cuda::getCurrentCUDAStream();
  if (vectors > 0)
    AddReluByEight<<<static_cast<unsigned>((vectors + 255) / 256), 256, 0, stream>>>(
        reinterpret_cast<const uint4*>(x.data_ptr()),
        reinterpret_cast<const uint4*>(residual.data_ptr()),
        reinterpret_cast<uint4*>(out.data_ptr()), vectors);
  if (rest > 0)
    AddReluSingly<<<static_cast<unsigned>((rest + 255) / 256), 256, 0, stream>>>(
        reinterpret_cast<const __half*>(x.data_ptr()),
        reinterpret_cast<const __half*>(residual.data_ptr()),
        reinterpret_cast<__half*>(out.data_ptr()), vectors * 8, count);
  return out;
}
"""

extension = load_inline(
    name="add_relu_half",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["add_relu"],
)


class ModelNew(nn.Module):
    def forward(self, x, residual):
        return extension.add_relu(x, residual)
