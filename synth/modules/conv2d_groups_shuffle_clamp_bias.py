import torch
import torch.nn as nn


class Model(nn.Module):
    """Grouped convolution, group shuffle by reshape, additional bias, clamp from below."""

    def __init__(self, in_channels, out_channels, groups, bias_shape, minimum):
        super().__init__()
        self.gconv = nn.Conv2d(in_channels, out_channels, 3, padding=1, groups=groups, bias=False)
        self.groups = groups
        self.bias = nn.Parameter(torch.randn(*bias_shape) * 0.1)
        self.minimum = minimum

    def forward(self, x):
        y = self.gconv(x)
        N, C, H, W = y.shape
        y = y.reshape(N, self.groups, C // self.groups, H, W).transpose(1, 2).reshape(N, C, H, W)
        return (y + self.bias).clamp_min(self.minimum)


def get_inputs():
    return [torch.randn(8, 24, 36, 36)]


def get_init_inputs():
    return [24, 48, 4, (48, 1, 1), -0.1]
