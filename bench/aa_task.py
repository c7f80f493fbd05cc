"""Row softmax of a size that keeps 1,000 comparisons affordable; its candidate in the A/A test is itself."""
import torch
import torch.nn as nn

ROWS = 2048
COLS = 1024


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(x * 0.5, dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
