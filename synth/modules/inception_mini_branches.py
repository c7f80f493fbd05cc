import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvReLU(nn.Module):
    def __init__(self, in_ch, out_ch, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_ch, out_ch, **kwargs)

    def forward(self, x):
        return F.relu(self.conv(x))


class Branches(nn.Module):
    def __init__(self, in_ch, c1, c3, c5, cp):
        super().__init__()
        self.b1 = ConvReLU(in_ch, c1, kernel_size=1)
        self.b3 = ConvReLU(in_ch, c3, kernel_size=3, padding=1)
        self.b5 = ConvReLU(in_ch, c5, kernel_size=5, padding=2)
        self.bp = ConvReLU(in_ch, cp, kernel_size=1)

    def forward(self, x):
        pooled = F.max_pool2d(x, 3, stride=1, padding=1)
        return torch.cat([self.b1(x), self.b3(x), self.b5(x), self.bp(pooled)], dim=1)


class Model(nn.Module):
    """Two multi-branch modules with a pooling between them."""

    def __init__(self, in_ch, n_classes):
        super().__init__()
        self.m1 = Branches(in_ch, 16, 24, 8, 8)
        self.m2 = Branches(56, 24, 32, 12, 12)
        self.out = nn.Linear(80, n_classes)

    def forward(self, x):
        x = self.m1(x)
        x = F.max_pool2d(x, 2)
        x = self.m2(x)
        x = x.mean(dim=[-2, -1])
        return self.out(x)


def get_inputs():
    return [torch.randn(16, 10, 50, 50)]


def get_init_inputs():
    return [10, 21]
