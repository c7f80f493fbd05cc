"""Training batch norm: statistics with their running update, then normalisation."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = r"""
torch::Tensor batch_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias,
                         torch::Tensor running_mean, torch::Tensor running_var, double momentum,
                         double eps);
"""

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

constexpr int kThreads = 256;
constexpr int kSlices = 32;  // blocks that share the statistics of one channel

__device__ double BlockSum(double value) {
  __shared__ double partial[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0;
  for (int w = 0; w < kThreads / 32; ++w) value += partial[w];
  return value;
}

// Sums of x and x^2 of one channel over the images b with b % kSlices == slice.
__global__ void __launch_bounds__(kThreads)
    Moments(const float* x, double* moments, int batch, int channels, int area) {
  const int c = blockIdx.x, slice = blockIdx.y;
  double sum = 0.0, squares = 0.0;
  for (int b = slice; b < batch; b += kSlices) {
    const float* in = x + (static_cast<int64_t>(b) * channels + c) * area;
    for (int i = threadIdx.x; i < area; i += kThreads) {
      const double v = in[i];
      sum += v;
      squares += v * v;
    }
  }
  sum = BlockSum(sum);
  squares = BlockSum(squares);
  if (threadIdx.x == 0) {
    moments[(c * kSlices + slice) * 2] = sum;
    moments[(c * kSlices + slice) * 2 + 1] = squares;
  }
}

__global__ void Statistics(const double* moments, float* mean, float* inverse,
                           float* running_mean, float* running_var, double momentum, double eps,
                           double count, int channels) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  double sum = 0.0, squares = 0.0;
  for (int s = 0; s < kSlices; ++s) {
    sum += moments[(c * kSlices + s) * 2];
    squares += moments[(c * kSlices + s) * 2 + 1];
  }
  const double center = sum / count;
  double variance = squares / count - center * center;
  variance = variance < 0.0 ? 0.0 : variance;
  mean[c] = static_cast<float>(center);
  inverse[c] = static_cast<float>(rsqrt(variance + eps));
  running_mean[c] += static_cast<float>(momentum * (center - running_mean[c]));
  running_var[c] +=
      static_cast<float>(momentum * (variance * count / (count - 1.0) - running_var[c]));
}

__global__ void __launch_bounds__(kThreads)
    Normalize(const float* x, const float* mean, const float* inverse, const float* weight,
              const float* bias, float* out, int channels, int area) {
  const int64_t plane = blockIdx.x;
  const int c = static_cast<int>(plane % channels);
  const float center = mean[c], scale = inverse[c] * weight[c], shift = bias[c];
  const float* in = x + plane * area;
  float* row = out + plane * area;
  for (int i = threadIdx.x; i < area; i += kThreads) row[i] = (in[i] - center) * scale + shift;
}

torch::Tensor batch_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias,
                         torch::Tensor running_mean, torch::Tensor running_var, double momentum,
                         double eps) {
  x = x.contiguous();
  const int batch = x.size(0), channels = x.size(1), area = x.size(2) * x.size(3);
  auto out = torch::empty_like(x);
  auto moments = torch::empty({channels, kSlices, 2}, x.options().dtype(torch::kFloat64));
  auto mean = torch::empty({channels}, x.options());
  auto inverse = torch::empty({channels}, x.options());
  auto stream = c10::cuda::getCurrentCUDAStream();
  Moments<<<dim3(channels, kSlices), kThreads, 0, stream>>>(
      x.data_ptr<float>(), moments.data_ptr<double>(), batch, channels, area);
  Statistics<<<(channels + 127) / 128, 128, 0, stream>>>(
      moments.data_ptr<double>(), mean.data_ptr<float>(), inverse.data_ptr<float>(),
      running_mean.data_ptr<float>(), running_var.data_ptr<float>(), momentum, eps,
      static_cast<double>(batch) * area, channels);
  Normalize<<<batch * channels, kThreads, 0, stream>>>(
      x.data_ptr<float>(), mean.data_ptr<float>(), inverse.data_ptr<float>(),
      weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), channels, area);
  return out;
}
"""

extension = load_inline(
    name="batch_norm_train_cuda",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["batch_norm"],
)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels, eps=1e-5, momentum=0.1)

    def forward(self, x):
        norm = self.norm
        out = extension.batch_norm(x, norm.weight, norm.bias, norm.running_mean,
                                   norm.running_var, norm.momentum, norm.eps)
        norm.num_batches_tracked.add_(1)
        return out
