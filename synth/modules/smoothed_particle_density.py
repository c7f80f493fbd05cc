import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """SPH density with the poly6 kernel and a stiff equation of state."""

    def __init__(self, h, mass, rho0, k):
        super().__init__()
        self.h2 = h * h
        self.norm = mass * 315.0 / (64.0 * math.pi * h ** 9)
        self.rho0 = rho0
        self.k = k

    def forward(self, pos):
        rel = pos.unsqueeze(2) - pos.unsqueeze(1)
        r2 = rel.pow(2).sum(dim=3)
        w = (self.h2 - r2).clamp(min=0.0).pow(3)
        density = self.norm * w.sum(dim=2)
        pressure = self.k * ((density / self.rho0) ** 7 - 1.0)
        return density, pressure.clamp(min=0.0)


def get_inputs():
    return [torch.rand(12, 350, 3)]


def get_init_inputs():
    return [0.3, 0.02, 6.0, 0.5]
