import torch
import torch.nn as nn


class Model(nn.Module):
    """Product of two square matrices, tanh, lower triangle kept, row sums divided by the row index."""

    def __init__(self, n):
        super().__init__()
        self.register_buffer("tril", torch.tril(torch.ones(n, n)))
        self.register_buffer("count", torch.arange(1, n + 1).float())

    def forward(self, a, b):
        c = torch.tanh(torch.mm(a, b) * 0.05)
        return (c * self.tril).sum(dim=1) / self.count


def get_inputs():
    return [torch.randn(500, 500), torch.randn(500, 500)]


def get_init_inputs():
    return [500]
