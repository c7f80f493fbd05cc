import torch
import torch.nn as nn


class MBConv(nn.Module):
    def __init__(self, ch, ratio, k):
        super().__init__()
        mid = ch * ratio
        self.pw = nn.Conv2d(ch, mid, 1, bias=False)
        self.dw = nn.Conv2d(mid, mid, k, 1, k // 2, groups=mid, bias=False)
        self.pwl = nn.Conv2d(mid, ch, 1, bias=False)
        self.n1 = nn.BatchNorm2d(mid, eps=1e-3, momentum=0.01)
        self.n2 = nn.BatchNorm2d(mid, eps=1e-3, momentum=0.01)
        self.n3 = nn.BatchNorm2d(ch, eps=1e-3, momentum=0.01)
        self.act = nn.SiLU()

    def forward(self, x):
        y = self.act(self.n1(self.pw(x)))
        y = self.act(self.n2(self.dw(y)))
        return self.n3(self.pwl(y)).add(x)


class Model(nn.Module):
    def __init__(self, ch=40, ratio=3, k=5):
        super().__init__()
        self.mb = MBConv(ch, ratio, k)

    def forward(self, x):
        return self.mb(x)


def get_inputs():
    return [torch.randn(6, 40, 28, 28)]


def get_init_inputs():
    return [40, 3, 5]
