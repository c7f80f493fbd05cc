import torch
import torch.nn as nn


class Model(nn.Module):
    """Sum of a 3x3, a 1x1 and an identity branch, each with its own batch norm, then Mish."""

    def __init__(self, ch):
        super().__init__()
        self.rbr_dense = nn.Sequential(nn.Conv2d(ch, ch, 3, padding=1, bias=False), nn.BatchNorm2d(ch))
        self.rbr_1x1 = nn.Sequential(nn.Conv2d(ch, ch, 1, bias=False), nn.BatchNorm2d(ch))
        self.nonlinearity = nn.Mish()

    def forward(self, x):
        return self.nonlinearity(self.rbr_dense(x) + self.rbr_1x1(x) + 0.5 * x)


def get_inputs():
    return [torch.randn(6, 28, 40, 40)]


def get_init_inputs():
    return [28]
