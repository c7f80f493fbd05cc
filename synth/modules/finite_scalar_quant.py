import torch
from torch import nn


class Model(nn.Module):
    """Finite scalar quantisation: bounds each coordinate, rounds it, and numbers the combination."""

    def __init__(self, levels):
        super().__init__()
        lv = torch.tensor(levels)
        self.register_buffer("levels", lv.float())
        basis = torch.cumprod(torch.tensor([1] + list(levels[:-1])), dim=0)
        self.register_buffer("basis", basis.float())

    def forward(self, z):
        half = (self.levels - 1) * (1 + 1e-3) / 2
        offset = torch.where(self.levels % 2 == 0, 0.5, 0.0)
        shift = torch.atanh(offset / half)
        bounded = torch.tanh(z + shift) * half - offset
        rounded = torch.round(bounded)
        width = torch.floor(self.levels / 2)
        index = ((rounded + width) * self.basis).sum(-1)
        return rounded / width, index.long()


def get_inputs():
    return [torch.randn(8, 9000, 5)]


def get_init_inputs():
    return [[8, 5, 5, 4, 3]]
