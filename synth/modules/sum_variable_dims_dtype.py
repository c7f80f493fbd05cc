import torch
from torch import nn


class Model(nn.Module):
    """Sum of half precision numbers, accumulated and returned in single."""

    def __init__(self, dim, keepdim):
        super().__init__()
        self.dim = dim
        self.keepdim = keepdim

    def forward(self, x):
        return torch.sum(x, dim=self.dim, keepdim=self.keepdim, dtype=torch.float32)


def get_inputs():
    return [torch.randn(60, 110, 120).to(torch.float16)]


def get_init_inputs():
    return [(0, 2), False]
