import torch
import torch.nn as nn


class Model(nn.Module):
    """ScaleNorm: one learned length for every vector."""

    def __init__(self, scale: float, eps: float = 1e-5):
        super().__init__()
        self.g = nn.Parameter(torch.tensor(scale))
        self.eps = eps

    def forward(self, x):
        n = torch.linalg.norm(x, dim=-1, keepdim=True).clamp(min=self.eps)
        return x * (self.g / n)


def get_inputs():
    return [torch.randn(12, 200, 512)]


def get_init_inputs():
    return [512 ** 0.5]
