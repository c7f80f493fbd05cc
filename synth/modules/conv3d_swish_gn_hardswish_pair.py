import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Conv3d -> SiLU -> GroupNorm -> min over depth -> leaky clamp"""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, groups):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)
        self.gn = nn.GroupNorm(num_groups=groups, num_channels=out_channels)

    def forward(self, x):
        x = self.gn(F.silu(self.conv(x)))
        x = x.min(dim=2).values
        return torch.maximum(x, 0.1 * x)


def get_inputs():
    return [torch.rand(4, 6, 12, 20, 20)]


def get_init_inputs():
    return [6, 18, 3, 1, 1, 3]
