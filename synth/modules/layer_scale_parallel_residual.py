import torch
import torch.nn as nn


class LayerScale(nn.Module):
    def __init__(self, dim, init_values=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(init_values * torch.ones(dim))

    def forward(self, x):
        return x * self.gamma


class Model(nn.Module):
    """Two parallel branches with layer scale and a fixed keep mask of stochastic depth given as an input."""

    def __init__(self, dim, keep_prob):
        super().__init__()
        self.ln = nn.LayerNorm(dim)
        self.branch_a = nn.Linear(dim, dim)
        self.branch_b = nn.Linear(dim, dim)
        self.ls_a = LayerScale(dim, 0.1)
        self.ls_b = LayerScale(dim, 0.2)
        self.keep_prob = keep_prob

    def forward(self, x, keep):
        y = self.ln(x)
        keep = (keep.to(x.dtype) / self.keep_prob).reshape(-1, *[1] * (x.ndim - 1))
        return x + keep * (self.ls_a(self.branch_a(y)) + self.ls_b(self.branch_b(y).tanh()))


def get_inputs():
    return [torch.randn(16, 145, 256), torch.rand(16) < 0.8]


def get_init_inputs():
    return [256, 0.8]
