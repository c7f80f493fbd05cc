import torch
import torch.nn as nn


class Model(nn.Module):
  """Value of the second map at the place where the first one is greatest."""

  def __init__(self, dim: int):
    super().__init__()
    self.dim = dim

  def forward(self, key, payload):
    where = key.argmax(dim=self.dim, keepdim=True)
    return torch.take_along_dim(payload, where, dim=self.dim)


def get_inputs():
  return [torch.randn(1300, 410), torch.randn(1300, 410)]


def get_init_inputs():
  return [1]
