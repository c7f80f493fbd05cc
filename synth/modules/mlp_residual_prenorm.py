import torch
import torch.nn as nn


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) + x


def ff(dim, mult):
    return nn.Sequential(
        nn.LayerNorm(dim),
        nn.Linear(dim, dim * mult),
        nn.GELU(),
        nn.Linear(dim * mult, dim),
    )


class Model(nn.Module):
    def __init__(self, *, dim=144, depth=3, mult=2, n_out=8):
        super().__init__()
        self.trunk = nn.Sequential(*(Residual(ff(dim, mult)) for _ in range(depth)))
        self.to_out = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, n_out))

    def forward(self, x):
        return self.to_out(self.trunk(x))


def get_inputs():
    return [torch.randn(1500, 144)]


def get_init_inputs():
    return []
