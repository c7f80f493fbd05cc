"""Sums embedding rows in registers; neighbouring threads read neighbouring columns."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = "torch::Tensor embedding_sum(torch::Tensor table, torch::Tensor indices);"

CUDA_SOURCE = r"""
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void EmbeddingSum(const float* __restrict__ table,
                             const int64_t* __restrict__ indices, float* __restrict__ out,
                             int bag, int width) {
  const int64_t sample = blockIdx.x;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0.0f;
#pragma unroll 8
    for (int k = 0; k < bag; ++k) sum += table[indices[sample * bag + k] * width + c];
    out[sample * width + c] = sum;
  }
}

torch::Tensor embedding_sum(torch::Tensor table, torch::Tensor indices) {
  indices = indices.contiguous();
  const int width = table.size(1), bag = indices.size(1);
  auto out = torch::empty({indices.size(0), width}, table.options());
  const int threads = width >= 256 ? 256 : (width + 31) / 32 * 32;
  EmbeddingSum<<<indices.size(0), threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
      table.data_ptr<float>(), indices.data_ptr<int64_t>(), out.data_ptr<float>(), bag, width);
  return out;
}
"""

extension = load_inline(
    name="embedding_sum_cuda",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["embedding_sum"],
)


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        return extension.embedding_sum(self.table.weight, indices)
