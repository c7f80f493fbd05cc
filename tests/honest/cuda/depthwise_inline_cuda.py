"""Depthwise 3x3 convolution with the SiLU in its epilogue; all code sits in the CUDA source."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void __launch_bounds__(256)
    DepthwiseSwish(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ out, int channels,
                   int height, int width) {
  const int o = blockIdx.x * 256 + threadIdx.x;
  if (o >= height * width) return;
  const int c = blockIdx.y;
  const int64_t plane = static_cast<int64_t>(blockIdx.z) * channels + c;
  const float* in = x + plane * height * width;
  const int oy = o / width, ox = o % width;
  float sum = bias[c];
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) {
      const int y = oy + dy, i = ox + dx;
      if (y >= 0 && y < height && i >= 0 && i < width)
        sum += in[y * width + i] * weight[c * 9 + (dy + 1) * 3 + dx + 1];
    }
  out[plane * height * width + o] = sum / (1.0f + expf(-sum));
}

torch::Tensor depthwise_swish(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  x = x.contiguous();
  weight = weight.contiguous();
  auto out = torch::empty_like(x);
  const int channels = x.size(1), height = x.size(2), width = x.size(3);
  const dim3 grid((height * width + 255) / 256, channels, x.size(0));
  DepthwiseSwish<<<grid, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
      out.data_ptr<float>(), channels, height, width);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("depthwise_swish", &depthwise_swish); }
"""

extension = load_inline(
    name="depthwise_swish_cuda",
    cpp_sources="",
    cuda_sources=CUDA_SOURCE,
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x):
        return extension.depthwise_swish(x, self.conv.weight, self.conv.bias)
