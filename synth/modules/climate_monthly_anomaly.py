import torch
import torch.nn as nn


class Model(nn.Module):
    """Removes the monthly climatology, divides by the month's spread and weights by latitude."""

    def __init__(self, lats):
        super().__init__()
        lat = torch.linspace(-88.0, 88.0, lats) * torch.pi / 180
        self.register_buffer("w", (lat.cos() / lat.cos().mean()).reshape(-1, 1))

    def forward(self, field):
        # field: years, 12, lat, lon
        clim = field.mean(0, keepdim=True)
        spread = field.std(0, keepdim=True, unbiased=True)
        anom = (field - clim) / (spread + 1e-5)
        return anom, (anom * self.w).mean(dim=(-2, -1))


def get_inputs():
    return [torch.randn(15, 12, 45, 90) * 4 + 12]


def get_init_inputs():
    return [45]
