"""A reference with a parameter that it does not use, and weights that a kernel may hold in another form."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.unused = nn.Linear(n, n)
        self.one = nn.Linear(n, n, bias=False)
        self.other = nn.Linear(n, n, bias=False)

    def forward(self, x, scale=2.0):
        return (self.one(x) + self.other(x)) * scale


def get_inputs():
    return {"x": torch.randn(64, 128)}


def get_init_inputs():
    return [128]
