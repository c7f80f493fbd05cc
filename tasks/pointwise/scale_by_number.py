"""Scales by a tensor of no dimensions."""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 1024


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, weight):
        return x * weight


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.tensor(0.75)]


def get_init_inputs():
    return []
