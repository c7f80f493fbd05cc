import torch
import torch.nn as nn


class Model(nn.Module):
    """ResNet-D shortcut: average pool first, 1x1 convolution, batch norm, swish, plus a bias map."""

    def __init__(self, inplanes, planes, stride):
        super().__init__()
        self.avd = nn.AvgPool2d(stride, stride, ceil_mode=True, count_include_pad=False)
        self.conv = nn.Conv2d(inplanes, planes, 1, 1, 0, bias=False)
        self.bn = nn.BatchNorm2d(planes)
        self.extra_bias = nn.Parameter(torch.zeros(planes, 1, 1))

    def forward(self, identity):
        identity = self.avd(identity)
        identity = self.bn(self.conv(identity))
        return identity.sigmoid() * identity + self.extra_bias


def get_inputs():
    return [torch.randn(8, 32, 57, 57)]


def get_init_inputs():
    return [32, 64, 2]
