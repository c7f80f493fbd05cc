import torch
import torch.nn as nn


def central(f, axis, h):
    """central difference, interior points only along `axis`"""
    n = f.shape[axis]
    return (f.narrow(axis, 2, n - 2) - f.narrow(axis, 0, n - 2)) / (2 * h)


class Model(nn.Module):
    """Divergence and vorticity of a planar flow on the interior of the grid."""

    def __init__(self, h=1.0):
        super().__init__()
        self.h = h

    def forward(self, velocity):
        u, v = velocity[:, 0], velocity[:, 1]
        dudx = central(u, 2, self.h)[:, 1:-1, :]
        dudy = central(u, 1, self.h)[:, :, 1:-1]
        dvdx = central(v, 2, self.h)[:, 1:-1, :]
        dvdy = central(v, 1, self.h)[:, :, 1:-1]
        return dudx + dvdy, dvdx - dudy


def get_inputs():
    return [torch.randn(5, 2, 402, 302)]


def get_init_inputs():
    return [0.25]
