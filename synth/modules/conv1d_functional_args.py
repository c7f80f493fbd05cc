import torch
import torch.nn as nn
from torch.nn import functional as F


class Model(nn.Module):
  """1-d convolution whose weight is a plain parameter."""

  def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation):
    super().__init__()
    self.stride = stride
    self.padding = padding
    self.dilation = dilation
    self.weight = nn.Parameter(torch.randn(out_channels, in_channels, kernel_size) * 0.05)
    self.bias = nn.Parameter(torch.zeros(out_channels))

  def forward(self, x):
    y = F.conv1d(x, self.weight, self.bias, stride=self.stride, padding=self.padding, dilation=self.dilation)
    return F.relu(y)


def get_init_inputs():
  return [36, 48, 5, 2, 4, 2]


def get_inputs():
  return [torch.randn(6, 36, 2000)]