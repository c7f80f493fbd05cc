import torch
import torch.nn as nn
from torch.nn import functional as F


class CausalConv1d(nn.Conv1d):
  def forward(self, x):
    left = (self.kernel_size[0] - 1) * self.dilation[0]
    return super().forward(F.pad(x, (left, 0)))


class Model(nn.Module):
  # Gated causal layer with residual and skip outputs, conditioned on a global vector
  def __init__(self, residual, skip, cond, dilation):
    super().__init__()
    self.dilated = CausalConv1d(residual, 2 * residual, 2, dilation=dilation)
    self.cond = nn.Linear(cond, 2 * residual, bias=False)
    self.res = nn.Conv1d(residual, residual, 1)
    self.skip = nn.Conv1d(residual, skip, 1)

  def forward(self, x, g):
    a = self.dilated(x) + self.cond(g).unsqueeze(-1)
    filt, gate = a.chunk(2, dim=1)
    z = torch.tanh(filt) * torch.sigmoid(gate)
    return (self.res(z) + x) * 0.5 ** 0.5, self.skip(z)


def get_inputs():
  return [torch.randn(4, 60, 2200), torch.randn(4, 24)]


def get_init_inputs():
  return [60, 90, 24, 8]
