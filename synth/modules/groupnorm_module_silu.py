import torch
from torch import Tensor
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
  """GroupNorm followed by SiLU, as in the residual blocks of diffusion UNets."""

  def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-6):
    super().__init__()
    self.norm = nn.GroupNorm(num_groups, num_channels, eps=eps)

  def forward(self, x: Tensor) -> Tensor:
    return F.silu(self.norm(x))


def get_inputs(): return [torch.randn(3, 96, 56, 56)]


def get_init_inputs(): return [12, 96]