import torch
import torch.nn as nn


def at(f):
    """Spatial attention map: mean of squares over channels, unit length."""
    m = f.pow(2).mean(1).view(f.size(0), -1)
    return m / m.norm(dim=1, keepdim=True).clamp(min=1e-12)


class Model(nn.Module):
    def __init__(self, c_s, c_t, weight):
        super().__init__()
        self.regressor = nn.Conv2d(c_s, c_t, 1, bias=False)
        self.weight = weight

    def forward(self, f_s, f_t):
        attention = (at(f_s) - at(f_t)).pow(2).mean()
        hint = (self.regressor(f_s) - f_t).pow(2).mean()
        return hint + self.weight * attention


def get_inputs():
    return [torch.randn(16, 48, 20, 20), torch.randn(16, 96, 20, 20)]


def get_init_inputs():
    return [48, 96, 1000.0]
