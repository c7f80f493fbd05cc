"""Rows scaled by a gain, then shifted by their mean: small enough to be interpreted in milliseconds."""
import torch
import torch.nn as nn

ROWS, COLS = 24, 200


class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        scaled = x * self.gain
        return scaled - scaled.mean(dim=-1, keepdim=True)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [COLS]
