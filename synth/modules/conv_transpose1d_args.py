import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
  def __init__(self, c_in, c_out, kernel_size, stride, padding, output_padding):
    super().__init__()
    self.stride = stride
    self.padding = padding
    self.output_padding = output_padding
    self.w = nn.Parameter(0.1 * torch.randn(c_in, c_out, kernel_size))

  def forward(self, x):
    up = F.conv_transpose1d(x, self.w, stride=self.stride, padding=self.padding, output_padding=self.output_padding)
    return F.leaky_relu(up, 0.1)


def get_inputs():
  return [torch.randn(10, 28, 900)]


def get_init_inputs():
  return [28, 20, 5, 2, 2, 1]
