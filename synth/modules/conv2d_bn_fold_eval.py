import torch
import torch.nn as nn


class ConvBN(nn.Sequential):
    def __init__(self, a, b, ks=1, stride=1, pad=0, dilation=1, groups=1):
        super().__init__()
        self.add_module('c', nn.Conv2d(a, b, ks, stride, pad, dilation, groups, bias=False))
        self.add_module('bn', nn.BatchNorm2d(b))


class Model(nn.Module):
    def __init__(self, a, b, ks, stride, pad):
        super().__init__()
        self.layer = ConvBN(a, b, ks, stride, pad)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(6, 16, 64, 64)]


def get_init_inputs():
    return [16, 40, 3, 2, 1]
