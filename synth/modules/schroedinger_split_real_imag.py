import math
import torch
from torch import nn


class Model(nn.Module):
    """Kinetic finite-difference plus a potential phase kick for a complex wave function held as two tensors."""

    def __init__(self, n_points, dt):
        super().__init__()
        grid = torch.linspace(-math.pi, math.pi, n_points)
        self.register_buffer("V", 0.5 * grid.square())
        self.dt = dt

    def forward(self, re, im):
        cos, sin = torch.cos(self.V * self.dt), torch.sin(self.V * self.dt)
        re2 = re * cos + im * sin
        im2 = im * cos - re * sin
        lap_re = torch.roll(re2, 1, -1) - 2 * re2 + torch.roll(re2, -1, -1)
        lap_im = torch.roll(im2, 1, -1) - 2 * im2 + torch.roll(im2, -1, -1)
        re3 = re2 - 0.5 * self.dt * lap_im
        im3 = im2 + 0.5 * self.dt * lap_re
        return {"re": re3, "im": im3, "density": re3 ** 2 + im3 ** 2}


def get_inputs():
    return [torch.randn(256, 3000), torch.randn(256, 3000)]


def get_init_inputs():
    return [3000, 0.02]
