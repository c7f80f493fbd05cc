from typing import Callable, Optional

import torch
from torch import Tensor
from torch import nn

BATCH, INPLANES, PLANES, RES = 2, 64, 32, 28


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    """3x3 convolution with padding"""
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=dilation,
                     groups=groups, bias=False, dilation=dilation)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """1x1 convolution"""
    return nn.Conv2d(in_planes, out_planes, kernel_size=1, stride=stride, bias=False)


class Bottleneck(nn.Module):
    expansion: int = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: Optional[nn.Module] = None,
                 groups: int = 1, base_width: int = 64, norm_layer: Optional[Callable[..., nn.Module]] = None) -> None:
        super().__init__()
        if norm_layer is None:
            norm_layer = nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        identity = x

        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)

        out = self.conv2(out)
        out = self.bn2(out)
        out = self.relu(out)

        out = self.conv3(out)
        out = self.bn3(out)

        if self.downsample is not None:
            identity = self.downsample(x)

        out += identity
        out = self.relu(out)
        return out


class Model(nn.Module):
    def __init__(self, inplanes: int, planes: int):
        super().__init__()
        down = nn.Sequential(conv1x1(inplanes, planes * Bottleneck.expansion, 2),
                             nn.BatchNorm2d(planes * Bottleneck.expansion))
        self.layer = nn.Sequential(
            Bottleneck(inplanes, planes, stride=2, downsample=down),
            Bottleneck(planes * Bottleneck.expansion, planes),
        )
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def get_inputs():
    return [torch.randn(BATCH, INPLANES, RES, RES)]


def get_init_inputs():
    return [INPLANES, PLANES]
