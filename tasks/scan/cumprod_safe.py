"""Prefix product of factors near one, so that no prefix over- or underflows."""
import torch
import torch.nn as nn

ROWS = 1536
COLS = 1024


class Model(nn.Module):
    def __init__(self, spread):
        super().__init__()
        self.spread = spread

    def forward(self, x):
        return torch.cumprod(1.0 + self.spread * torch.tanh(x), dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [0.01]
