import torch
import torch.nn as nn


class Model(nn.Module):
    """Full pre-activation bottleneck; the projection is taken after the first activation."""

    def __init__(self, cin, mid, cout, stride):
        super().__init__()
        self.n1, self.n2, self.n3 = nn.BatchNorm2d(cin), nn.BatchNorm2d(mid), nn.BatchNorm2d(mid)
        self.c1 = nn.Conv2d(cin, mid, 1, bias=False)
        self.c2 = nn.Conv2d(mid, mid, 3, stride, 1, bias=False)
        self.c3 = nn.Conv2d(mid, cout, 1, bias=False)
        self.proj = nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        pre = self.n1(x).relu()
        y = self.c1(pre)
        y = self.c2(self.n2(y).relu())
        y = self.c3(self.n3(y).relu())
        return y + self.proj(pre)


def get_inputs():
    return [torch.randn(6, 64, 28, 28)]


def get_init_inputs():
    return [64, 32, 128, 2]
