import torch
import torch.nn as nn


class Model(nn.Module):
    """Divides by the average square of neighbouring channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.lrn = nn.LocalResponseNorm(size, alpha, beta, k)

    def forward(self, x):
        return self.lrn(x)


def get_inputs():
    return [torch.randn(8, 48, 55, 55)]


def get_init_inputs():
    return [5, 5e-4, 0.75, 2.0]
