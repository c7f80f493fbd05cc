"""Adds a residual and normalises each row by its root mean square: the way in to most transformer layers."""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 2048
EPSILON = 1e-6


class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(cols))

    def forward(self, x, residual):
        h = x + residual
        return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [COLS]
