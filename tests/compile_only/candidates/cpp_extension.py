"""C++ for the host: what it does with tensors of a device is unknown without one."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP = """
torch::Tensor centre(torch::Tensor x, torch::Tensor gain) {
  auto out = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  for (int64_t row = 0; row < x.size(0); ++row, from += x.size(1)) {
    float sum = 0;
    for (int64_t i = 0; i < x.size(1); ++i) sum += from[i] * gain.data_ptr<float>()[i];
    for (int64_t i = 0; i < x.size(1); ++i)
      out.data_ptr<float>()[row * x.size(1) + i] = from[i] * gain.data_ptr<float>()[i] - sum / x.size(1);
  }
  return out;
}
int64_t rows_at_once(int64_t rows) { return rows < 8 ? rows : 8; }
"""
module = load_inline("centre", CPP, functions=["centre", "rows_at_once"])
assert module.rows_at_once(100) == 8


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        return module.centre(x, self.gain)
