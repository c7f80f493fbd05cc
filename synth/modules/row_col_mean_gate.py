import torch
import torch.nn as nn


class Model(nn.Module):
    """Spatial position gate from row and column means (coordinate style), no bottleneck."""

    def __init__(self, channels, k):
        super().__init__()
        self.conv_h = nn.Conv1d(channels, channels, k, padding=k // 2, groups=channels)
        self.conv_w = nn.Conv1d(channels, channels, k, padding=k // 2, groups=channels)

    def forward(self, x):
        g_h = self.conv_h(x.mean(dim=3)).sigmoid().unsqueeze(3)
        g_w = self.conv_w(x.mean(dim=2)).sigmoid().unsqueeze(2)
        return x * g_h * g_w


def get_inputs():
    return [torch.randn(8, 64, 48, 36)]


def get_init_inputs():
    return [64, 7]
