import torch
import torch.nn as nn
from typing import Tuple


class Model(nn.Module):
    def __init__(self, dims: Tuple[int, ...], keepdim: bool = False):
        super().__init__()
        self.dims = tuple(dims)
        self.keepdim = keepdim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=self.dims, keepdim=self.keepdim)


def get_inputs():
    return [torch.randn(12, 50, 60, 40)]


def get_init_inputs():
    return [(0, 2), True]
