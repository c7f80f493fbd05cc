import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, x, pattern):
        tiled = pattern.repeat(1, self.times)
        return x + tiled


def get_inputs():
    return [torch.randn(520, 1200), torch.randn(520, 300)]


def get_init_inputs():
    return [4]
