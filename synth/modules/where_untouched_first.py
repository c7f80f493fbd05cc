import torch
from torch import Tensor
import torch.nn as nn


class Model(nn.Module):
  '''Leave large values alone; the others are squashed.'''

  def __init__(self):
    super(Model, self).__init__()

  def forward(self, x: Tensor, knee: float) -> Tensor:
    keep = x >= knee
    return torch.where(keep, x, knee + torch.tanh(x - knee))


def get_init_inputs():
  return []


def get_inputs():
  return [torch.randn(44, 55, 333), -0.4]