"""Greyscale erosion, dilation, opening and closing with a soft structuring element."""
import torch
import torch.nn.functional as F
from torch import nn

KERNEL = 5
SIZE = 96


def _windows(x, k):
    n, c, h, w = x.shape
    padded = F.pad(x, (k // 2,) * 4, value=0.0)
    return F.unfold(padded, k).view(n, c, k * k, h, w)


class Dilation(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.element = nn.Parameter(torch.randn(1, 1, k * k, 1, 1) * 0.01)

    def forward(self, x):
        return (_windows(x, self.k) + self.element).max(dim=2)[0]


class Erosion(Dilation):
    def forward(self, x):
        return (_windows(x, self.k) - self.element).min(dim=2)[0]


class Model(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.erode, self.dilate = Erosion(k), Dilation(k)

    def opening(self, x):
        return self.dilate(self.erode(x))

    def closing(self, x):
        return self.erode(self.dilate(x))

    def forward(self, x):
        top_hat = x - self.opening(x)
        black_hat = self.closing(x) - x
        return top_hat, black_hat


def get_inputs():
    return [torch.rand(1, 1, SIZE, SIZE)]


def get_init_inputs():
    return [KERNEL]
