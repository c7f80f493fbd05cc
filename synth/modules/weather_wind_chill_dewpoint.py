import torch
import torch.nn as nn


class Model(nn.Module):
    """Magnus dew point, wind chill below ten degrees, and wind components.

    Shapes: all fields (time, lat, lon).
    """

    A, B = 17.625, 243.04

    def __init__(self):
        super().__init__()

    def forward(self, temp_c, rel_hum, speed, direction_deg):
        gamma = torch.log(rel_hum / 100.0) + self.A * temp_c / (self.B + temp_c)
        dew = self.B * gamma / (self.A - gamma)
        kmh = (speed * 3.6).clamp(min=0.1)
        p = kmh ** 0.16
        chill = 13.12 + 0.6215 * temp_c - 11.37 * p + 0.3965 * temp_c * p
        felt = torch.where((temp_c < 10) & (kmh > 4.8), chill, temp_c)
        rad = torch.deg2rad(direction_deg)
        return dew, felt, -speed * torch.sin(rad), -speed * torch.cos(rad)


def get_inputs():
    g = (24, 120, 180)
    return [torch.rand(g) * 40 - 10, torch.rand(g) * 90 + 10, torch.rand(g) * 20, torch.rand(g) * 360]


def get_init_inputs():
    return []
