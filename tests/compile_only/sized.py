"""A task whose weights have other sizes on a device."""
import torch
import torch.nn as nn

ROWS = 16
WIDTH = 32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH))

    def forward(self, x):
        return x * self.weight


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return []
