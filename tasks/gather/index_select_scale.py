"""Reorder rows by an index vector and scale each picked row."""
import torch
import torch.nn as nn

SOURCE_ROWS = 16384
WIDTH = 256
PICKS = 20000


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, index, scale):
        return torch.index_select(x, 0, index) * scale.unsqueeze(1)


def get_inputs():
    return [
        torch.randn(SOURCE_ROWS, WIDTH),
        torch.randint(0, SOURCE_ROWS, (PICKS,)),
        torch.randn(PICKS),
    ]


def get_init_inputs():
    return []
