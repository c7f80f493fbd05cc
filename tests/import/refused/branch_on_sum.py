import torch
import torch.nn as nn

DIM = 64


class Model(nn.Module):
    """The branch depends on the values of the input."""

    def __init__(self, dim):
        super().__init__()
        self.a = nn.Linear(dim, dim)
        self.b = nn.Linear(dim, dim)

    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(x).relu()


def get_inputs():
    return [torch.randn(32, DIM)]


def get_init_inputs():
    return [DIM]
