import torch
import torch.nn as nn


class Model(nn.Module):
    """D2Q9 collision: density, velocity, equilibrium and relaxation."""

    def __init__(self, omega):
        super().__init__()
        self.omega = omega
        c = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
        w = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
        self.register_buffer("cx", torch.tensor([float(a) for a, _ in c]).view(9, 1, 1))
        self.register_buffer("cy", torch.tensor([float(b) for _, b in c]).view(9, 1, 1))
        self.register_buffer("w", torch.tensor(w).view(9, 1, 1))

    def forward(self, f):
        rho = f.sum(0, keepdim=True)
        ux = (f * self.cx).sum(0, keepdim=True) / rho
        uy = (f * self.cy).sum(0, keepdim=True) / rho
        cu = self.cx * ux + self.cy * uy
        feq = self.w * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy))
        return f + self.omega * (feq - f)


def get_inputs():
    return [torch.rand(9, 210, 305) * 0.1 + 0.1]


def get_init_inputs():
    return [1.7]
