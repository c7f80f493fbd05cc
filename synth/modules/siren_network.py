import math
import torch
from torch import nn


class Sine(nn.Module):
    def __init__(self, w0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


def siren_layer(n_in, n_out, w0, first):
    layer = nn.Linear(n_in, n_out)
    bound = 1 / n_in if first else math.sqrt(6 / n_in) / w0
    nn.init.uniform_(layer.weight, -bound, bound)
    return nn.Sequential(layer, Sine(w0))


class Model(nn.Module):
    """Coordinates to colours through sine layers."""

    def __init__(self, width=128, depth=2, w0=30.0):
        super(Model, self).__init__()
        blocks = [siren_layer(2, width, w0, True)]
        blocks += [siren_layer(width, width, w0, False) for _ in range(depth - 1)]
        self.trunk = nn.Sequential(*blocks)
        self.rgb = nn.Linear(width, 3)

    def forward(self, coords):
        return self.rgb(self.trunk(coords)).sigmoid()


def get_inputs():
    side = 240
    ax = torch.linspace(-1, 1, side)
    yy, xx = torch.meshgrid(ax, ax, indexing='ij')
    return [torch.stack([xx, yy], -1).reshape(-1, 2)]


def get_init_inputs():
    return [112, 2, 12.0]
