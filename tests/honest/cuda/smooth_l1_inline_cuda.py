"""Smooth L1 in two launches: partial sums per block, then one block adds them in a fixed order."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor smooth_l1(torch::Tensor a, torch::Tensor b, double beta);"

CUDA_SOURCE = r"""
#include <torch/extension.h>

#include <c10/cuda/CUDAStream.h>

#include <algorithm>

__device__ double BlockSum(double value) {
  __shared__ double partial[8];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0;
  for (int w = 0; w < 8; ++w) value += partial[w];
  return value;
}

__global__ void __launch_bounds__(256)
    Partial(const float* a, const float* b, double* partials, float beta, int64_t count) {
  double total = 0.0;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * 256;
  float run = 0.0f;
  int terms = 0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < count; i += stride) {
    const float d = fabsf(a[i] - b[i]);
    run += d < beta ? 0.5f * d * d / beta : d - 0.5f * beta;
    if (++terms == 64) {  // short float runs, collected in double
      total += run;
      run = 0.0f;
      terms = 0;
    }
  }
  total = BlockSum(total + run);
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

__global__ void __launch_bounds__(256)
    Finish(const double* partials, float* out, int num_partials, int64_t count) {
  double total = 0.0;
  for (int i = threadIdx.x; i < num_partials; i += 256) total += partials[i];
  total = BlockSum(total);
  if (threadIdx.x == 0) *out = static_cast<float>(total / static_cast<double>(count));
}

torch::Tensor smooth_l1(torch::Tensor a, torch::Tensor b, double beta) {
  a = a.contiguous();
  b = b.contiguous();
  const int64_t count = a.numel();
  const int blocks = static_cast<int>(std::min<int64_t>((count + 255) / 256, 2112));
  auto partials = torch::empty({blocks}, a.options().dtype(torch::kFloat64));
  auto out = torch::empty({}, a.options());
  auto stream = c10::cuda::getCurrentCUDAStream();
  Partial<<<blocks, 256, 0, stream>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                      partials.data_ptr<double>(), static_cast<float>(beta),
                                      count);
  Finish<<<1, 256, 0, stream>>>(partials.data_ptr<double>(), out.data_ptr<float>(), blocks,
                                count);
  return out;
}
"""

extension = load_inline(
    name="smooth_l1_cuda",
    cpp_sources=[CPP_SOURCE],
    cuda_sources=[CUDA_SOURCE],
    functions=["smooth_l1"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def forward(self, prediction, target):
        return extension.smooth_l1(prediction, target, self.beta)
