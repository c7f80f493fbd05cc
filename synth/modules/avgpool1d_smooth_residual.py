import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
  """Splits a series into its trend and what is left."""

  def __init__(self, window: int, stride: int, padding: int):
    super().__init__()
    self.window = window
    self.stride = stride
    self.padding = padding

  def forward(self, series):
    trend = F.avg_pool1d(series, kernel_size=self.window, stride=self.stride, padding=self.padding)
    return series - trend, trend


def get_inputs():
  return [torch.randn(24, 21, 1440)]


def get_init_inputs():
  return [25, 1, 12]
