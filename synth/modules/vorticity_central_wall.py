import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Vorticity, strain magnitude and a Smagorinsky eddy viscosity from velocity slices."""

    def __init__(self, dx=0.1, cs=0.17):
        super().__init__()
        self.dx, self.cs = dx, cs

    def d_dx(self, q):
        return (q[:, 1:-1, 2:] - q[:, 1:-1, :-2]) / (2 * self.dx)

    def d_dy(self, q):
        return (q[:, 2:, 1:-1] - q[:, :-2, 1:-1]) / (2 * self.dx)

    def forward(self, u, v):
        ux, uy, vx, vy = self.d_dx(u), self.d_dy(u), self.d_dx(v), self.d_dy(v)
        shear = 0.5 * (uy + vx)
        mag = torch.sqrt(2 * (ux ** 2 + vy ** 2 + 2 * shear ** 2) + 1e-12)
        nu_t = (self.cs * self.dx) ** 2 * mag
        return F.pad(vx - uy, (1, 1, 1, 1)), nu_t


def get_inputs():
    return [torch.randn(12, 130, 170), torch.randn(12, 130, 170)]


def get_init_inputs():
    return []
