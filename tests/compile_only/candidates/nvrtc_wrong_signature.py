import torch
import torch.nn as nn
from davinci_runtime import cuda_module

kernels = cuda_module(r"""
extern "C" __global__ void centre(const float* x, const float* gain, float* out, int cols) {
  const float* row = x + (long long)blockIdx.x * cols;
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += row[i] * gain[i];
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[(long long)blockIdx.x * cols + i] = row[i] * gain[i] - sum / cols;
}
""")
centre = kernels.get("centre", "ptr ptr ptr i64")


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        out = torch.empty_like(x)
        centre[x.shape[0], 128](x, self.gain, out, x.shape[1])
        return out
