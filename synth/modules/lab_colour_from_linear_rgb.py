import torch
import torch.nn as nn

M = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = (0.95047, 1.0, 1.08883)
DELTA = 6.0 / 29.0


def cube_root_piecewise(t):
    return torch.where(t > DELTA ** 3, t.clamp(min=1e-8) ** (1 / 3), t / (3 * DELTA ** 2) + 4.0 / 29.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("to_xyz", torch.tensor(M))
        self.register_buffer("white", torch.tensor(WHITE))

    def forward(self, pixels):  # (N, P, 3), linear light
        xyz = pixels @ self.to_xyz.t() / self.white
        fx, fy, fz = cube_root_piecewise(xyz).split(1, dim=-1)
        L = 116.0 * fy - 16.0
        a = 500.0 * (fx - fy)
        b = 200.0 * (fy - fz)
        return torch.cat([L, a, b], dim=-1)


def get_inputs():
    return [torch.rand(8, 65536, 3)]


def get_init_inputs():
    return []
