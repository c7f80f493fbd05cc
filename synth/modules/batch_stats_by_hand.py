import torch
from torch import nn

class Model(nn.Module):
  """Batch normalisation with the statistics of the batch itself."""

  def __init__(self, channels: int, epsilon: float = 1e-5):
    super().__init__()
    self.epsilon = epsilon
    self.gamma = nn.Parameter(torch.rand(channels) + 0.5)
    self.beta = nn.Parameter(torch.randn(channels) * 0.1)

  def forward(self, x: torch.Tensor) -> torch.Tensor:
    axes = (0, 2, 3)
    mu = x.mean(dim=axes, keepdim=True)
    var = x.var(dim=axes, unbiased=False, keepdim=True)
    x_hat = (x - mu) * torch.rsqrt(var + self.epsilon)
    return x_hat * self.gamma[None, :, None, None] + self.beta[None, :, None, None]

CHANNELS = 30

def get_inputs(): return [torch.randn(16, CHANNELS, 42, 42)]

def get_init_inputs(): return [CHANNELS]
