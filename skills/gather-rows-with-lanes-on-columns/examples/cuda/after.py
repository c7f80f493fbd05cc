"""Sum of embedding rows, threads along the columns."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    BagSum(const long long* __restrict__ indices, const float* __restrict__ table,
           float* __restrict__ out, int bag, int width) {
  const long long sample = blockIdx.x;
  const long long* list = indices + sample * bag;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0.0f;
    for (int b = 0; b < bag; ++b) sum += table[list[b] * width + c];
    out[sample * width + c] = sum;
  }
}
"""

kernel = dv.cuda_module(SOURCE).get("BagSum", "ptr ptr ptr i32 i32")


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        indices = indices.contiguous()
        samples, bag = indices.shape
        width = self.table.embedding_dim
        out = torch.empty(samples, width, dtype=self.table.weight.dtype, device=indices.device)
        threads = min(256, (width + 31) // 32 * 32)
        kernel[(samples, 1, 1), (threads, 1, 1)](indices, self.table.weight, out, bag, width)
        return out
