import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor bias_square_relu(torch::Tensor x, torch::Tensor bias);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void BiasSquareRelu(const float* x, const float* bias, float* out, int cols,
                               int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float v = x[i] + bias[i % cols];
  v = v < 0.0f ? 0.0f : v;  // keeps NaN, as relu does
  out[i] = v * v;
}

torch::Tensor bias_square_relu(torch::Tensor x, torch::Tensor bias) {
  auto in = x.contiguous();
  auto out = torch::empty_like(in);
  const int64_t count = in.numel();
  BiasSquareRelu<<<(count + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      in.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(),
      static_cast<int>(in.size(-1)), count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""

extension = load_inline(name="bias_square_relu", cpp_sources=CPP_SOURCE, cuda_sources=CUDA_SOURCE,
                        functions=["bias_square_relu"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return extension.bias_square_relu(x, self.bias)
