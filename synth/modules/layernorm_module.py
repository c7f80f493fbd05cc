import torch
from torch import nn


class Model(nn.Module):
  def __init__(self, normalized_shape):
    super().__init__()
    self.ln = nn.LayerNorm(normalized_shape=normalized_shape)

  def forward(self, x):
    return self.ln(x)


def get_init_inputs():
  return [1040]


def get_inputs():
  return [torch.randn(4, 260, 1040)]
