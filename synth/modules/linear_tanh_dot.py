import torch
import torch.nn as nn


class Model(nn.Module):
    """Additive attention energy: v . tanh(W x + b), a number for every row."""

    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.W = nn.Parameter(torch.randn(n_hidden, n_in) * 0.02)
        self.b = nn.Parameter(torch.zeros(n_hidden))
        self.v = nn.Parameter(torch.randn(n_hidden))

    def forward(self, x):
        energy = torch.tanh(x @ self.W.t() + self.b)
        return (energy * self.v).sum(-1)


def get_inputs():
    return [torch.randn(888, 512)]


def get_init_inputs():
    return [512, 360]
