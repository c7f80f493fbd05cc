import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Group norm over (N, C, T) with weights held as parameters."""

    def __init__(self, channels, groups):
        super().__init__()
        self.groups = groups
        self.weight = nn.Parameter(torch.randn(channels) * 0.1 + 1)
        self.bias = nn.Parameter(torch.randn(channels) * 0.1)

    def forward(self, x):
        return F.group_norm(x, self.groups, self.weight, self.bias, eps=1e-6)


def get_inputs():
    return [torch.randn(16, 96, 1400)]


def get_init_inputs():
    return [96, 12]
