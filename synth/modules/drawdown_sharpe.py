import torch
import torch.nn as nn


class Model(nn.Module):
  def __init__(self, periods_per_year: int = 252):
    super().__init__()
    self.ann = periods_per_year

  def forward(self, prices):
    """prices: (assets, days). Returns annualised Sharpe ratio and greatest drawdown."""
    rets = prices[:, 1:] / prices[:, :-1] - 1.0
    sharpe = rets.mean(dim=1) / (rets.std(dim=1) + 1e-12) * self.ann ** 0.5
    peak = torch.cummax(prices, dim=1).values
    drawdown = 1 - prices / peak
    return sharpe, drawdown.max(dim=1).values


ASSETS = 650
DAYS = 1260


def get_inputs():
  return [torch.exp(torch.cumsum(torch.randn(ASSETS, DAYS) * 0.01, 1)) * 50]


def get_init_inputs():
  return [252]
