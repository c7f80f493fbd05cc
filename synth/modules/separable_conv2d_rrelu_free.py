import torch
from torch import nn


class SeparableConv(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.depth = nn.Conv2d(i, i, k, padding=k // 2, groups=i, bias=False)
        self.point = nn.Conv2d(i, o, 1)

    def forward(self, x):
        return self.point(self.depth(x))


class Model(nn.Module):
    def __init__(self, in_ch, out_ch, kernel, drop):
        super().__init__()
        self.sep = SeparableConv(in_ch, out_ch, kernel)
        self.drop = nn.Dropout2d(drop)
        self.act = nn.Softsign()

    def forward(self, x):
        x = self.act(self.sep(x))
        return self.drop(x) * 2 - 1


def get_inputs():
    return [torch.randn(10, 24, 44, 44)]


def get_init_inputs():
    return [24, 48, 5, 0.0]
