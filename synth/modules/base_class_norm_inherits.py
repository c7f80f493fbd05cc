import torch
import torch.nn as nn


class _NormBase(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def statistic(self, x):
        raise NotImplementedError

    def forward(self, x):
        return x / (self.statistic(x) + self.eps)


class Model(_NormBase):
    """Divides by the mean absolute value over one axis."""

    def __init__(self, dim=-1, eps=1e-6):
        super().__init__(dim, eps)

    def statistic(self, x):
        return x.abs().mean(self.dim, keepdim=True)


def get_inputs():
    return [torch.randn(300, 40, 200)]


def get_init_inputs():
    return [1]
