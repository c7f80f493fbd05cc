import torch
import torch.nn as nn


class Model(nn.Module):
    """Nearest hit of rays with one sphere and the ground plane; misses give the far distance."""

    def __init__(self, centre, radius, far=1e3):
        super().__init__()
        self.register_buffer("centre", torch.tensor(centre))
        self.radius, self.far = radius, far

    def forward(self, origin, direction):
        oc = origin - self.centre
        a = (direction * direction).sum(-1)
        b = (oc * direction).sum(-1)
        c = (oc * oc).sum(-1) - self.radius ** 2
        disc = b * b - a * c
        t_s = (-b - disc.clamp(min=0).sqrt()) / a
        t_s = torch.where((disc > 0) & (t_s > 1e-3), t_s, self.far)
        dy = direction[:, 1]
        t_p = torch.where(dy < -1e-4, -origin[:, 1] / dy.clamp(max=-1e-4), self.far)
        t = torch.minimum(t_s, t_p)
        return t, t_s < t_p


def get_inputs():
    n = 210000
    return [torch.rand(n, 3) + 0.5, torch.randn(n, 3)]


def get_init_inputs():
    return [[0.0, 1.0, 5.0], 1.2]
