import torch
import torch.nn as nn


class Model(nn.Module):
    """(1,3,3) then (3,1,1) convolutions with a ReLU between, hard shrink after, a scalar multiply."""

    def __init__(self, i, m, o, lambd):
        super().__init__()
        self.spatial = nn.Conv3d(i, m, (1, 3, 3), padding=(0, 1, 1), bias=False)
        self.temporal = nn.Conv3d(m, o, (3, 1, 1), padding=(1, 0, 0))
        self.hs = nn.Hardshrink(lambd)

    def forward(self, v):
        v = self.spatial(v).relu()
        v = self.temporal(v)
        return self.hs(v) * 1.5


def get_inputs():
    return [torch.randn(4, 3, 8, 36, 36)]


def get_init_inputs():
    return [3, 20, 12, 0.1]
