import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, channels, k=3):
        super().__init__()
        self.channels = channels
        self.k = k
        self.weight = nn.Parameter(torch.randn(channels, 1, k, k, k) * 0.1)

    def forward(self, x):
        return F.conv3d(x, self.weight, padding=self.k // 2, groups=self.channels)


def get_inputs():
    return [torch.randn(2, 20, 20, 32, 32)]


def get_init_inputs():
    return [20]
