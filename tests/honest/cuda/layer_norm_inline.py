"""Layer norm, one block per row, with the row in shared memory; built with load_inline."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = """
torch::Tensor layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps);
"""

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

constexpr int kThreads = 256;

__device__ float BlockSum(float value) {
  __shared__ float partial[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) value += partial[w];
  return value;
}

__global__ void __launch_bounds__(kThreads)
    LayerNormKernel(const float* x, const float* weight, const float* bias, float* out, float eps,
                    int cols) {
  extern __shared__ float row_cache[];
  const float* in = x + static_cast<int64_t>(blockIdx.x) * cols;
  float* row = out + static_cast<int64_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    row_cache[c] = in[c];
    sum += row_cache[c];
  }
  const float mean = BlockSum(sum) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float d = row_cache[c] - mean;
    squares += d * d;
  }
  const float inverse = rsqrtf(BlockSum(squares) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads)
    row[c] = (row_cache[c] - mean) * inverse * weight[c] + bias[c];
}

torch::Tensor layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "expected a float CUDA tensor");
  auto in = x.contiguous();
  auto out = torch::empty_like(in);
  const int cols = static_cast<int>(in.size(-1));
  const int rows = static_cast<int>(in.numel() / cols);
  TORCH_CHECK(cols <= 12288, "a row must fit into shared memory");
  LayerNormKernel<<<rows, kThreads, cols * sizeof(float), c10::cuda::getCurrentCUDAStream()>>>(
      in.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
      out.data_ptr<float>(), static_cast<float>(eps), cols);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""

extension = load_inline(
    name="layer_norm_cuda",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["layer_norm"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-5)

    def forward(self, x):
        return extension.layer_norm(x, self.norm.weight, self.norm.bias, self.norm.eps)
