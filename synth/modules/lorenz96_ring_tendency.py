import torch
import torch.nn as nn


class Model(nn.Module):
    """Lorenz-96 tendency with forcing, an ensemble mean and inflation about it."""

    def __init__(self, forcing=8.0, inflation=1.05, dt=0.01):
        super().__init__()
        self.forcing = forcing
        self.inflation = inflation
        self.dt = dt

    def forward(self, members):
        advect = (torch.roll(members, -1, -1) - torch.roll(members, 2, -1)) * torch.roll(members, 1, -1)
        nxt = members + self.dt * (advect - members + self.forcing)
        mean = nxt.mean(dim=0, keepdim=True)
        return mean + self.inflation * (nxt - mean)


def get_inputs():
    return [torch.randn(40, 100, 240)]


def get_init_inputs():
    return []
