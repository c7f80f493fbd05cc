import torch
import torch.nn as nn


class Model(nn.Module):
    """Vapour pressure (Magnus), dew point, mixing ratio and apparent temperature of grid cells."""

    A = 17.27
    B = 237.3

    def forward(self, temp_c, rel_hum, pressure, wind):
        es = 6.108 * torch.exp(self.A * temp_c / (self.B + temp_c))
        e = es * rel_hum / 100.0
        g = torch.log(e / 6.108)
        dew = self.B * g / (self.A - g)
        mix = 0.622 * e / (pressure - e)
        apparent = temp_c + 0.33 * e - 0.70 * wind - 4.0
        return {"dew_point": dew, "mixing_ratio": mix, "apparent": apparent}


def get_inputs():
    s = (3, 361, 240)
    return [torch.rand(s) * 40 - 5, torch.rand(s) * 80 + 15, 950 + 80 * torch.rand(s), torch.rand(s) * 12]


def get_init_inputs():
    return []
