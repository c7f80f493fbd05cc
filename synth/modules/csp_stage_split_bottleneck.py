import torch
import torch.nn as nn


def autopad(k, p=None):
    return k // 2 if p is None else p


class Conv(nn.Module):
    def __init__(self, c1, c2, k=1, s=1, p=None):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, autopad(k, p))
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.conv(x))


class Model(nn.Module):
    """C3-like stage of a YOLO backbone with one bottleneck."""

    def __init__(self, c1, c2, e=0.5):
        super().__init__()
        c_ = int(c2 * e)
        self.cv1 = Conv(c1, c_)
        self.cv2 = Conv(c1, c_)
        self.m1, self.m2 = Conv(c_, c_), Conv(c_, c_, 3)
        self.cv3 = Conv(2 * c_, c2)

    def forward(self, x):
        y = self.cv1(x)
        y = y + self.m2(self.m1(y))
        return self.cv3(torch.cat((y, self.cv2(x)), dim=1))


def get_inputs():
    return [torch.randn(4, 64, 32, 32)]


def get_init_inputs():
    return [64, 64]
