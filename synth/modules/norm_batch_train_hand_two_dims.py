import torch
import torch.nn as nn


class Model(nn.Module):
    """Batch norm over (N, T) of an (N, T, D) tensor, with batch statistics."""

    def __init__(self, d: int, eps: float = 1e-5):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(d) + 0.5)
        self.eps = eps

    def forward(self, x):
        mu = x.mean(dim=(0, 1))
        centred = x - mu
        var = (centred * centred).mean(dim=(0, 1))
        return centred / (var + self.eps).sqrt() * self.scale


def get_inputs():
    return [torch.randn(16, 200, 300)]


def get_init_inputs():
    return [300]
