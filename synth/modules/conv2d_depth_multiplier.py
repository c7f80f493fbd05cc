import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels: int, multiplier: int, kernel_size: int, bias: bool = True):
        super().__init__()
        self.dw = nn.Conv2d(channels, channels * multiplier, kernel_size, padding=kernel_size // 2, groups=channels, bias=bias)

    def forward(self, x):
        return self.dw(x)


def get_inputs():
    return [torch.randn(6, 40, 70, 70)]


def get_init_inputs():
    return [40, 3, 5]
