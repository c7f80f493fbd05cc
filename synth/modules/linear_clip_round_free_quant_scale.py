import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear, scaled into [-1, 1] by the batch maximum, floor to levels, rescaled."""

    def __init__(self, n, m, levels):
        super().__init__()
        self.map = nn.Linear(n, m)
        self.levels = levels

    def forward(self, x):
        y = self.map(x)
        top = y.abs().max()
        q = torch.floor(y / top * self.levels + 0.5)
        return q * (top / self.levels)


def get_inputs():
    return [torch.randn(350, 260)]


def get_init_inputs():
    return [260, 390, 15]
