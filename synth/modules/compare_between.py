import torch
import torch.nn as nn


class Model(nn.Module):
    """1.0 where lo < x <= hi, else 0.0"""

    def __init__(self, lo, hi):
        super(Model, self).__init__()
        self.lo = lo
        self.hi = hi

    def forward(self, x):
        return ((x > self.lo) & (x <= self.hi)).to(torch.float32)


def get_inputs():
    return [torch.randn(930, 1040)]


def get_init_inputs():
    return [-0.5, 1.25]
