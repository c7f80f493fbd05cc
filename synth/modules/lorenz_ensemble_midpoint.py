import torch
import torch.nn as nn


def lorenz(p, sigma=10.0, rho=28.0, beta=8.0 / 3.0):
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    return torch.stack((sigma * (y - x), x * (rho - z) - y, x * y - beta * z), dim=-1)


class Model(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.h = h

    def forward(self, p):
        half = p + 0.5 * self.h * lorenz(p)
        return p + self.h * lorenz(half)


def get_inputs():
    return [torch.randn(250000, 3) * 8]


def get_init_inputs():
    return [0.01]
