import torch
from torch import nn

class Model(nn.Module):
  def __init__(self, c, h):
    super().__init__()
    self.net = nn.Sequential(
      nn.LayerNorm(c),
      nn.Linear(c, h),
      nn.ReLU(),
    )

  def forward(self, x):
    return self.net(x)

def get_inputs():
  return [torch.randn(850, 390)]

def get_init_inputs():
  return [390, 820]
