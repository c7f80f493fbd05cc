import torch
import torch.nn as nn


class Model(nn.Module):
    # gamma is stored as an offset from one
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.zeros(dim))

    def _norm(self, x):
        return x / torch.sqrt(torch.mean(x * x, -1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x) * (1.0 + self.gamma)


def get_inputs():
    return [torch.randn(6, 300, 1152)]


def get_init_inputs():
    return [1152, 1e-5]
