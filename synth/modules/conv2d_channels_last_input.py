import torch
import torch.nn as nn


class Model(nn.Module):
    """Takes and returns NHWC."""

    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)

    def forward(self, x):
        x = x.permute(0, 3, 1, 2)
        x = self.conv(x)
        return x.permute(0, 2, 3, 1)


def get_inputs():
    return [torch.randn(6, 54, 54, 24)]


def get_init_inputs():
    return [24, 36]
