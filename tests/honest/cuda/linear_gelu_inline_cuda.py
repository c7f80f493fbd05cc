"""The product stays with the vendor library; bias and GELU overwrite its result in one kernel."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor linear_gelu(torch::Tensor x, torch::Tensor w, torch::Tensor bias);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void __launch_bounds__(256)
    BiasGelu(float* data, const float* __restrict__ bias, int64_t count, int cols) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * 256;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < count; i += stride) {
    const float v = data[i] + bias[i % cols];
    data[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
  }
}

torch::Tensor linear_gelu(torch::Tensor x, torch::Tensor w, torch::Tensor bias) {
  auto out = torch::mm(x, w.t());
  const int64_t count = out.numel();
  const int blocks = static_cast<int>(std::min<int64_t>((count + 255) / 256, 8448));
  BiasGelu<<<blocks, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      out.data_ptr<float>(), bias.data_ptr<float>(), count, static_cast<int>(out.size(1)));
  return out;
}
"""

extension = load_inline(
    name="linear_gelu_cuda",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["linear_gelu"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        return extension.linear_gelu(x, self.proj.weight, self.proj.bias)
