"""Quantises every row to int8 by its largest magnitude, and returns the scale with it."""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 1024


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / 127.0
        return torch.clamp(torch.round(x / scale), -127, 127).to(torch.int8), scale


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
