"""A gated activation with a scaled residual, as feed-forward blocks end: eager execution makes five passes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 2048
COLS = 1024


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x, gate, residual):
        return F.gelu(x, approximate="tanh") * torch.sigmoid(gate) + self.scale * residual


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [0.5]
