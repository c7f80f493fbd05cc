import torch
import torch.nn as nn


class Model(nn.Module):
    """One Lax-Friedrichs step of the one-dimensional shallow water equations (periodic)."""

    def __init__(self, dt, dx, g=9.81):
        super().__init__()
        self.k = dt / (2 * dx)
        self.g = g

    def forward(self, h, hu):
        flux_h = hu
        flux_hu = hu * hu / h + 0.5 * self.g * h ** 2

        def step(q, f):
            east, west = torch.roll(q, -1, dims=1), torch.roll(q, 1, dims=1)
            return 0.5 * (east + west) - self.k * (torch.roll(f, -1, dims=1) - torch.roll(f, 1, dims=1))

        return step(h, flux_h), step(hu, flux_hu)


def get_inputs():
    return [1.0 + torch.rand(110, 3000), torch.randn(110, 3000) * 0.2]


def get_init_inputs():
    return [0.01, 0.2]
