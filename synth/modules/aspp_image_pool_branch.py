import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """DeepLab ASPP with two rates and the image pooling branch."""

    def __init__(self, in_channels, out_channels, rates=(6, 12)):
        super().__init__()
        self.b0 = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.b1 = nn.Conv2d(in_channels, out_channels, 3, padding=rates[0], dilation=rates[0], bias=False)
        self.b2 = nn.Conv2d(in_channels, out_channels, 3, padding=rates[1], dilation=rates[1], bias=False)
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(in_channels, out_channels, 1))
        self.project = nn.Conv2d(4 * out_channels, out_channels, 1)

    def forward(self, x):
        size = x.shape[-2:]
        pooled = self.pool(x).expand(-1, -1, *size)
        cat = torch.cat([self.b0(x), self.b1(x), self.b2(x), pooled], 1)
        return F.relu(self.project(F.relu(cat)))


def get_inputs():
    return [torch.randn(2, 96, 33, 33)]


def get_init_inputs():
    return [96, 48]
