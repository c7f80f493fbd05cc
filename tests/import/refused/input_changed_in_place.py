import torch
import torch.nn as nn

ROWS, DIM = 64, 96


class Model(nn.Module):
    """Normalises the caller's tensor in place and returns a projection of it."""

    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        x -= x.mean(dim=-1, keepdim=True)
        x /= x.std(dim=-1, keepdim=True) + 1e-5
        return self.proj(x)


def get_inputs():
    return [torch.randn(ROWS, DIM)]


def get_init_inputs():
    return [DIM]
