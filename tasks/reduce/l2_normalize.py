"""Scale every row to unit Euclidean length, with a floor under the norm."""
import torch
import torch.nn as nn

ROWS = 6144
COLS = 1024


class Model(nn.Module):
    def __init__(self, floor):
        super().__init__()
        self.floor = floor

    def forward(self, x):
        norm = torch.sqrt((x * x).sum(dim=1, keepdim=True))
        return x / norm.clamp_min(self.floor)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [1e-6]
