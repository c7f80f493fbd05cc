import torch
import torch.nn as nn


class Model(nn.Module):
  def __init__(self, dim: int):
    super().__init__()
    self.softmax = nn.Softmax(dim=dim)

  def forward(self, x):
    return self.softmax(x)


def get_inputs():
  return [torch.randn(150, 5200).to(torch.bfloat16)]


def get_init_inputs():
  return [0]
