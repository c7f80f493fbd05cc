import torch
import torch.nn as nn


class Model(nn.Module):
    """Two linear maps; the larger output per feature; bias; log1p of the positive part; row sum."""

    def __init__(self, n, m):
        super().__init__()
        self.first = nn.Linear(n, m, bias=False)
        self.second = nn.Linear(n, m, bias=False)
        self.bias = nn.Parameter(torch.linspace(-0.5, 0.5, m))

    def forward(self, x):
        y = torch.maximum(self.first(x), self.second(x))
        y = (y + self.bias).clamp(min=0)
        return y.log1p().sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(1000, 160)]


def get_init_inputs():
    return [160, 270]
