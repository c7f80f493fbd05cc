"""Exclusive prefix sum: element i holds the sum of everything before it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 2048
COLS = 2048


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        shifted = F.pad(x, (1, 0))[:, :-1]
        return torch.cumsum(shifted, dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
