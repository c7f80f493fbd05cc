"""A plain C function for the host."""
import torch
import torch.nn as nn
from davinci_runtime import cpp_module

CPP = """
extern "C" void centre(const float* x, const float* gain, float* out, long rows, long cols) {
  for (long r = 0; r < rows; ++r, x += cols, out += cols) {
    float sum = 0;
    for (long i = 0; i < cols; ++i) sum += x[i] * gain[i];
    for (long i = 0; i < cols; ++i) out[i] = x[i] * gain[i] - sum / cols;
  }
}
"""
centre = cpp_module(CPP).get("centre", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        out = torch.empty_like(x)
        centre(x, self.gain, out, *x.shape)
        return out
