from collections import namedtuple

import torch
import torch.nn as nn

Stats = namedtuple("Stats", ["mean", "peak", "active"])


class Model(nn.Module):
    """Statistics of thresholded convolution responses."""

    def __init__(self, in_channels, out_channels, kernel_size, threshold):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.threshold = threshold

    def forward(self, x):
        r = torch.relu(self.conv(x) - self.threshold)
        return Stats(r.mean((2, 3)), r.amax((2, 3)), (r > 0).float().mean((1, 2, 3)))


def get_inputs():
    return [torch.randn(10, 8, 51, 51)]


def get_init_inputs():
    return [8, 25, 3, 0.3]
