"""Add values into the bins named by an index tensor, row by row, on top of a base tensor."""
import torch
import torch.nn as nn

ROWS = 4096
VALUES = 1024
BINS = 256


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, base, index, values):
        return base.scatter_add(1, index, values)


def get_inputs():
    return [
        torch.randn(ROWS, BINS),
        torch.randint(0, BINS, (ROWS, VALUES)),
        torch.randn(ROWS, VALUES),
    ]


def get_init_inputs():
    return []
