import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Geostrophic wind from geopotential height on a regular lat-lon grid (interior points)."""

    def __init__(self, n_lat, n_lon, lat0, lat1):
        super().__init__()
        lat = torch.deg2rad(torch.linspace(lat0, lat1, n_lat))[1:-1]
        R = 6.371e6
        self.dy = R * math.radians((lat1 - lat0) / (n_lat - 1))
        self.register_buffer("f", (2 * 7.2921e-5 * torch.sin(lat)).view(1, -1, 1))
        self.register_buffer("dx", (R * torch.cos(lat) * 2 * math.pi / n_lon).view(1, -1, 1))

    def forward(self, z):
        dzdx = (z.roll(-1, 2) - z.roll(1, 2))[:, 1:-1] / (2 * self.dx)
        dzdy = (z[:, 2:] - z[:, :-2]) / (2 * self.dy)
        u = -9.80665 / self.f * dzdy
        v = 9.80665 / self.f * dzdx
        return torch.stack([u, v, torch.sqrt(u ** 2 + v ** 2)], dim=1)


def get_inputs():
    return [torch.randn(30, 91, 180) * 100 + 5500]


def get_init_inputs():
    return [91, 180, 20.0, 70.0]
