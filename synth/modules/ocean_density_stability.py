import torch
import torch.nn as nn


class Model(nn.Module):
    """Linearised sea-water density by depth and the squared buoyancy frequency between levels."""

    def __init__(self, levels, dz):
        super().__init__()
        self.dz = dz
        self.alpha, self.beta = 2.0e-4, 7.6e-4
        self.register_buffer("depth", torch.arange(levels).float() * dz)

    def forward(self, temperature, salinity):
        rho = 1027.0 * (1 - self.alpha * (temperature - 10.0) + self.beta * (salinity - 35.0))
        rho = rho + 4.5e-3 * self.depth[:, None, None]
        n2 = 9.81 / 1027.0 * (rho[:, 1:] - rho[:, :-1]) / self.dz
        unstable = (n2 < 0).sum(dim=1)
        return rho, n2, unstable


def get_inputs():
    return [torch.rand(4, 30, 90, 120) * 20, torch.rand(4, 30, 90, 120) * 3 + 33]


def get_init_inputs():
    return [30, 10.0]
