import torch
import torch.nn as nn


class Model(nn.Module):
    """Inputs of different rank: volume (B, T, C), table (T, C), row (C,) and a scale (B,)."""

    def __init__(self):
        super().__init__()

    def forward(self, volume, table, row, scale):
        mixed = volume * scale[:, None, None] + table
        mixed = mixed * row
        return mixed.sum(dim=1) / table.size(0)


B, T, C = 50, 120, 333


def get_inputs():
    return [torch.randn(B, T, C), torch.randn(T, C), torch.randn(C), torch.rand(B)]


def get_init_inputs():
    return []
