import math
import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
  def __init__(self):
    super().__init__()

  def forward(self, p, t):
    d = p - t
    return (d + F.softplus(-2.0 * d) - math.log(2.0)).mean(dim=-1)


def get_inputs():
  return [torch.randn(1400, 430), torch.randn(1400, 430)]


def get_init_inputs():
  return []
