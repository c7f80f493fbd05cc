import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Causal depthwise convolution: pads on the left only."""

    def __init__(self, d_inner: int, d_conv: int, dilation: int):
        super().__init__()
        self.d_inner = d_inner
        self.left = (d_conv - 1) * dilation
        self.dilation = dilation
        self.conv_weight = nn.Parameter(torch.randn(d_inner, 1, d_conv))

    def forward(self, x):
        x = F.pad(x, (self.left, 0))
        return F.conv1d(x, self.conv_weight, dilation=self.dilation, groups=self.d_inner)


def get_inputs():
    return [torch.randn(3, 140, 1200)]


def get_init_inputs():
    return [140, 4, 2]
