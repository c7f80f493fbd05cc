import torch
import torch.nn as nn

EARTH_KM = 6371.0088


class Model(nn.Module):
    """Great-circle length and starting bearing between matched points given in degrees."""

    def forward(self, lat1, lon1, lat2, lon2):
        p1, l1, p2, l2 = map(torch.deg2rad, (lat1, lon1, lat2, lon2))
        dp, dl = p2 - p1, l2 - l1
        h = torch.sin(dp / 2) ** 2 + p1.cos() * p2.cos() * torch.sin(dl / 2) ** 2
        km = 2 * EARTH_KM * torch.asin(h.clamp(0.0, 1.0).sqrt())
        y = dl.sin() * p2.cos()
        x = p1.cos() * p2.sin() - p1.sin() * p2.cos() * dl.cos()
        return km, torch.rad2deg(torch.atan2(y, x))


def get_inputs():
    n = 333_333
    lat = lambda: torch.rand(n) * 120 - 60
    lon = lambda: torch.rand(n) * 300 - 150
    return [lat(), lon(), lat(), lon()]


def get_init_inputs():
    return []
