import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        n = torch.arange(1, x.size(1) + 1, device=x.device, dtype=x.dtype)
        return x.cumsum(1) / n


def get_inputs():
    return [torch.randn(700, 1300)]


def get_init_inputs():
    return []
