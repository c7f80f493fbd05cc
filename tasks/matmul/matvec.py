"""Matrix-vector product."""
import torch
import torch.nn as nn

ROWS = 8192
COLS = 2048


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, x):
        return torch.mv(a, x)


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(COLS)]


def get_init_inputs():
    return []
