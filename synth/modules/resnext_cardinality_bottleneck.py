import torch
import torch.nn as nn


class Model(nn.Module):
    """ResNeXt bottleneck, normalisation folded away."""

    def __init__(self, planes, cardinality, base_width):
        super().__init__()
        D = cardinality * base_width
        self.conv_reduce = nn.Conv2d(planes, D, 1)
        self.conv_conv = nn.Conv2d(D, D, 3, padding=1, groups=cardinality)
        self.conv_expand = nn.Conv2d(D, planes, 1)
        self.relu = nn.ReLU()

    def forward(self, x):
        bottleneck = self.relu(self.conv_reduce(x))
        bottleneck = self.relu(self.conv_conv(bottleneck))
        bottleneck = self.conv_expand(bottleneck)
        return self.relu(x + bottleneck)


def get_inputs():
    return [torch.randn(4, 128, 28, 28)]


def get_init_inputs():
    return [128, 16, 4]
