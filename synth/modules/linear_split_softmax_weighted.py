import torch
import torch.nn as nn


class Model(nn.Module):
    """One projection split in values and scores; softmaxed scores weight the values."""

    def __init__(self, dim, out):
        super().__init__()
        self.both = nn.Linear(dim, 2 * out)
        self.out = out

    def forward(self, x):
        values, scores = self.both(x).split(self.out, dim=-1)
        weights = torch.softmax(scores / self.out ** 0.5, dim=-1)
        return (weights * values).sum(-1)


def get_inputs():
    return [torch.randn(16, 100, 160)]


def get_init_inputs():
    return [160, 240]
