"""Diffusion on periodic grids, one kernel per time step."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor diffuse(torch::Tensor x, int64_t steps, double rate);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#include <utility>

__device__ __forceinline__ float Update(const float* grid, int i, int side, float rate) {
  const int r = i / side, c = i % side;
  const int up = r == 0 ? side - 1 : r - 1, down = r == side - 1 ? 0 : r + 1;
  const int left = c == 0 ? side - 1 : c - 1, right = c == side - 1 ? 0 : c + 1;
  const float around = grid[up * side + c] + grid[down * side + c] + grid[r * side + left] +
                       grid[r * side + right];
  return grid[i] + rate * (around - 4.0f * grid[i]);
}

__global__ void __launch_bounds__(256)
    Step(const float* __restrict__ now, float* __restrict__ next, int side, float rate) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int cells = side * side;
  if (i >= cells) return;
  const int64_t base = static_cast<int64_t>(blockIdx.y) * cells;
  next[base + i] = Update(now + base, i, side, rate);
}

torch::Tensor diffuse(torch::Tensor x, int64_t steps, double rate) {
  x = x.contiguous();
  const int batch = x.size(0), side = x.size(1);
  auto out = torch::empty_like(x), spare = torch::empty_like(x);
  const float* now = x.data_ptr<float>();
  float* next = steps % 2 == 1 ? out.data_ptr<float>() : spare.data_ptr<float>();
  float* other = steps % 2 == 1 ? spare.data_ptr<float>() : out.data_ptr<float>();
  if (steps == 0) out.copy_(x);
  const auto stream = c10::cuda::getCurrentCUDAStream();
  for (int64_t s = 0; s < steps; ++s) {
    Step<<<dim3((side * side + 255) / 256, batch), 256, 0, stream>>>(
        now, next, side, static_cast<float>(rate));
    now = next;
    std::swap(next, other);
  }
  return out;
}
"""

extension = load_inline(
    name="diffuse_cuda",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["diffuse"],
)


class ModelNew(nn.Module):
    def __init__(self, steps, rate):
        super().__init__()
        self.steps = steps
        self.rate = rate

    def forward(self, x):
        return extension.diffuse(x, self.steps, self.rate)
