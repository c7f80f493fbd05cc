import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv3d, optional GroupNorm, optional activation by name, AdaptiveAvgPool3d keeping depth."""

    def __init__(self, in_channels, out_channels, kernel_size, num_groups=None, act="silu"):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, padding=kernel_size // 2)
        self.norm = nn.GroupNorm(num_groups, out_channels) if num_groups else nn.Identity()
        if act == "silu":
            self.act = nn.SiLU()
        elif act == "relu":
            self.act = nn.ReLU()
        else:
            self.act = nn.Identity()
        self.pool = nn.AdaptiveAvgPool3d((None, 1, 1))

    def forward(self, x):
        x = self.act(self.norm(self.conv(x)))
        return self.pool(x).squeeze(-1).squeeze(-1)


def get_inputs():
    return [torch.randn(4, 4, 10, 24, 24)]


def get_init_inputs():
    return [4, 24, 3, 6, "silu"]
