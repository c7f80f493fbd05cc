"""Writes the smoothed encoding directly as floats, one row per block."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256)
    OneHotSmooth(const long long* labels, float* out, float low, float high, int classes) {
  const int label = static_cast<int>(labels[blockIdx.x]);
  float* row = out + static_cast<long long>(blockIdx.x) * classes;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) row[c] = c == label ? high : low;
}
"""

kernel = dv.cuda_module(SOURCE).get("OneHotSmooth", "ptr ptr f32 f32 i32")


class ModelNew(nn.Module):
    def __init__(self, classes, smoothing):
        super().__init__()
        self.low = smoothing / classes
        self.high = 1.0 - smoothing + smoothing / classes
        self.classes = classes

    def forward(self, labels):
        labels = labels.contiguous()
        rows = labels.shape[0]
        out = torch.empty(rows, self.classes, dtype=torch.float32, device=labels.device)
        kernel[(rows, 1, 1), (256, 1, 1)](labels, out, self.low, self.high, self.classes)
        return out
