"""Suffix sum along the last dimension, written with two flips."""
import torch
import torch.nn as nn

ROWS = 3072
COLS = 1024


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.flip(torch.cumsum(torch.flip(x, dims=(1,)), dim=1), dims=(1,))


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
