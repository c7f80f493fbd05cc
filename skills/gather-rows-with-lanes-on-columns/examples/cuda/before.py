"""Sum of embedding rows, one thread per sample and column block."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    BagSum(const long long* __restrict__ indices, const float* __restrict__ table,
           float* __restrict__ out, int samples, int bag, int width) {
  const int sample = blockIdx.x * 256 + threadIdx.x, c = blockIdx.y;
  if (sample >= samples) return;
  float sum = 0.0f;
  for (int b = 0; b < bag; ++b)
    sum += table[indices[static_cast<long long>(sample) * bag + b] * width + c];
  out[static_cast<long long>(sample) * width + c] = sum;
}
"""

kernel = dv.cuda_module(SOURCE).get("BagSum", "ptr ptr ptr i32 i32 i32")


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        indices = indices.contiguous()
        samples, bag = indices.shape
        width = self.table.embedding_dim
        out = torch.empty(samples, width, dtype=self.table.weight.dtype, device=indices.device)
        kernel[((samples + 255) // 256, width, 1), (256, 1, 1)](indices, self.table.weight, out,
                                                                samples, bag, width)
        return out
