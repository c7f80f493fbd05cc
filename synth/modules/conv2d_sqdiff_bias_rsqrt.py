import torch
import torch.nn as nn


class Model(nn.Module):
    """Contrast response: convolution minus its local average, divided by the local energy, times a parameter."""

    def __init__(self, ci, co, window):
        super().__init__()
        self.conv = nn.Conv2d(ci, co, 3, padding=1)
        self.local = nn.AvgPool2d(window, stride=1, padding=window // 2, count_include_pad=False)
        self.weight = nn.Parameter(torch.ones(1, co, 1, 1) * 1.1)

    def forward(self, x):
        y = self.conv(x)
        centred = y - self.local(y)
        return centred * torch.rsqrt(self.local(centred * centred) + 1e-3) * self.weight


def get_inputs():
    return [torch.randn(6, 5, 63, 61)]


def get_init_inputs():
    return [5, 16, 5]
