import torch
import torch.nn as nn


class Model(nn.Module):
    """Collapse the depth of a volume: Conv3d, sum over depth, tanh, Conv2d 1x1, scale."""

    def __init__(self, cin, mid, cout, k):
        super().__init__()
        self.volume_conv = nn.Conv3d(cin, mid, k, padding=(0, 1, 1))
        self.plane_conv = nn.Conv2d(mid, cout, 1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, volume):
        plane = torch.tanh(self.volume_conv(volume).sum(dim=2))
        return self.scale * self.plane_conv(plane)


def get_inputs():
    return [torch.randn(4, 4, 9, 32, 32)]


def get_init_inputs():
    return [4, 12, 18, 3]
