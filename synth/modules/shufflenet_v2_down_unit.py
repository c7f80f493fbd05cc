import torch
import torch.nn as nn


class ConvBN(nn.Module):
    def __init__(self, i, o, k, s=1, g=1, act=True):
        super().__init__()
        self.conv = nn.Conv2d(i, o, k, s, (k - 1) // 2, groups=g, bias=False)
        self.bn = nn.BatchNorm2d(o)
        self.act = act

    def forward(self, x):
        x = self.bn(self.conv(x))
        return x.relu() if self.act else x


class Model(nn.Module):
    # stride-2 unit: both branches see the whole input
    def __init__(self, inp, half):
        super().__init__()
        self.left = nn.Sequential(ConvBN(inp, inp, 3, 2, inp, act=False), ConvBN(inp, half, 1))
        self.right = nn.Sequential(ConvBN(inp, half, 1), ConvBN(half, half, 3, 2, half, act=False), ConvBN(half, half, 1))

    @staticmethod
    def shuffle(x, g):
        n, c, h, w = x.size()
        return x.view(n, g, c // g, h, w).transpose(1, 2).reshape(n, c, h, w)

    def forward(self, x):
        return self.shuffle(torch.cat((self.left(x), self.right(x)), dim=1), 2)


def get_inputs():
    return [torch.randn(4, 24, 56, 56)]


def get_init_inputs():
    return [24, 58]
