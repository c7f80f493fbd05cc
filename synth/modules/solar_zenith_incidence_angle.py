import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Cosine of the sun's incidence on sloped terrain from day, hour and latitude."""

    def __init__(self, solar_constant: float = 1361.0):
        super().__init__()
        self.solar_constant = solar_constant

    def forward(self, lat, slope, aspect, day, hour):
        decl = -0.4093 * torch.cos(2 * math.pi * (day + 10) / 365.0)
        omega = (hour - 12.0) * (math.pi / 12.0)
        cos_z = torch.sin(lat) * torch.sin(decl) + torch.cos(lat) * torch.cos(decl) * torch.cos(omega)
        zenith = torch.acos(cos_z.clamp(-0.9999, 0.9999))
        azimuth = torch.atan2(torch.sin(omega), torch.cos(omega) * torch.sin(lat) - torch.tan(decl) * torch.cos(lat))
        inc = cos_z * torch.cos(slope) + torch.sin(zenith) * torch.sin(slope) * torch.cos(azimuth - aspect)
        return self.solar_constant * inc.clamp(min=0) * (cos_z > 0)


def get_inputs():
    s = (400, 500)
    return [torch.rand(s) - 0.2, torch.rand(s) * 0.6, torch.rand(s) * 6.28, torch.randint(1, 366, s).float(), torch.rand(s) * 24]


def get_init_inputs():
    return []
