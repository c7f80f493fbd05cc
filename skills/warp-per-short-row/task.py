"""Cosine similarity of corresponding rows of two matrices."""
import torch
import torch.nn as nn

ROWS = 32768
COLS = 256


class Model(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x, y):
        dot = (x * y).sum(dim=1)
        left = torch.sqrt((x * x).sum(dim=1) + self.eps)
        right = torch.sqrt((y * y).sum(dim=1) + self.eps)
        return dot / (left * right)


def get_inputs():
    # A share of x in y, drawn for every row, spreads the answers over the whole range.
    x = torch.randn(ROWS, COLS)
    share = torch.randn(ROWS, 1)
    return [x, torch.randn(ROWS, COLS) + share * x]


def get_init_inputs():
    return [1e-6]
