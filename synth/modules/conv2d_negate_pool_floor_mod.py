import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Min pooling (negated max) of a convolution, hard shrink, division by two, subtraction of the batch mean."""

    def __init__(self, in_channels, out_channels, kernel_size, lambd):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.lambd = lambd

    def forward(self, x):
        x = self.conv(x)
        x = -F.max_pool2d(-x, kernel_size=2, stride=2)
        x = F.hardshrink(x, lambd=self.lambd)
        x = x.div(2.0)
        return torch.sub(x, x.mean(dim=0, keepdim=True))


def get_inputs():
    return [torch.randn(12, 4, 61, 69)]


def get_init_inputs():
    return [4, 26, 4, 0.35]
