import torch
import torch.nn as nn


class Model(nn.Module):
    """One shared matrix against a stack of matrices (broadcast matmul)."""

    def __init__(self, n):
        super(Model, self).__init__()
        self.mixing = nn.Parameter(torch.randn(n, n) / n ** 0.5)

    def forward(self, x):
        return torch.matmul(self.mixing, x)


batch_size = 20
tokens = 257
width = 300


def get_inputs():
    return [torch.randn(batch_size, tokens, width)]


def get_init_inputs():
    return [tokens]
