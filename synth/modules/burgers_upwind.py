import torch
from torch import nn


class Model(nn.Module):
    # Viscous Burgers' equation, first-order upwind for the transport
    def __init__(self, dx, dt, nu):
        super().__init__()
        self.dx, self.dt, self.nu = dx, dt, nu

    def forward(self, u):
        left = torch.roll(u, shifts=1, dims=-1)
        right = torch.roll(u, shifts=-1, dims=-1)
        backward = (u - left) / self.dx
        fwd = (right - u) / self.dx
        advect = torch.where(u > 0, u * backward, u * fwd)
        diffuse = (right - 2 * u + left) / self.dx ** 2
        return u + self.dt * (self.nu * diffuse - advect)


n_lines = 300
n_points = 2500


def get_inputs():
    return [torch.randn(n_lines, n_points)]


def get_init_inputs():
    return [0.02, 1e-4, 0.05]
