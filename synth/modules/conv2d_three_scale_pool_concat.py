import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Spatial pyramid: conv, relu, adaptive average pools of 1, 2 and 4 bins, flattened together."""

    def __init__(self, in_channels, out_channels, kernel_size, bins):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2)
        self.bins = bins

    def forward(self, x):
        x = F.relu(self.conv(x))
        parts = [F.adaptive_avg_pool2d(x, b).flatten(1) for b in self.bins]
        return torch.cat(parts, dim=1)


def get_inputs():
    return [torch.rand(8, 4, 67, 67)]


def get_init_inputs():
    return [4, 24, 4, (1, 2, 4)]
