import torch
import torch.nn as nn


class Model(nn.Module):
    """Signed distance of a rounded box, minus a sphere, smooth-united with a torus."""

    def __init__(self, k):
        super().__init__()
        self.k = k
        self.half_extent = nn.Parameter(torch.tensor([0.6, 0.3, 0.5]))

    def sphere(self, p, r):
        return torch.sqrt((p * p).sum(-1) + 1e-9) - r

    def box(self, p, rounding):
        q = p.abs() - self.half_extent
        outside = torch.sqrt(q.clamp(min=0).square().sum(-1) + 1e-9)
        return outside + q.amax(-1).clamp(max=0) - rounding

    def torus(self, p, major, minor):
        ring = torch.sqrt(p[..., 0] ** 2 + p[..., 2] ** 2 + 1e-9) - major
        return torch.sqrt(ring ** 2 + p[..., 1] ** 2 + 1e-9) - minor

    def forward(self, p):
        a = torch.maximum(self.box(p, 0.05), -self.sphere(p, 0.45))
        b = self.torus(p, 0.8, 0.1)
        h = (0.5 + 0.5 * (b - a) / self.k).clamp(0, 1)
        return b * (1 - h) + a * h - self.k * h * (1 - h)


def get_inputs():
    return [torch.rand(8, 50000, 3) * 2 - 1]


def get_init_inputs():
    return [0.1]
