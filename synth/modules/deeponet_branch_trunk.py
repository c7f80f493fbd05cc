import torch
import torch.nn as nn


class Model(nn.Module):
    """DeepONet: a branch net reads the function's samples, a trunk net the query points."""

    def __init__(self, sensors, coord_dim, p, width):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(sensors, width), nn.Tanh(), nn.Linear(width, p))
        self.trunk = nn.Sequential(nn.Linear(coord_dim, width), nn.Tanh(), nn.Linear(width, p), nn.Tanh())
        self.b0 = nn.Parameter(torch.zeros(1))

    def forward(self, u, y):
        return torch.einsum("bp,np->bn", self.branch(u), self.trunk(y)) + self.b0


def get_inputs():
    return [torch.randn(200, 100), torch.rand(2000, 2)]


def get_init_inputs():
    return [100, 2, 64, 128]
