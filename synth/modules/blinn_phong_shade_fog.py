import torch
import torch.nn as nn


def dot(a, b):
    return (a * b).sum(dim=-1, keepdim=True)


def unit(v, eps=1e-8):
    return v * torch.rsqrt(dot(v, v) + eps)


class Model(nn.Module):
    """Blinn-Phong lighting with exponential fog."""

    def __init__(self, shininess, density, fog_colour):
        super().__init__()
        self.shininess = shininess
        self.density = density
        self.register_buffer("fog", torch.tensor(fog_colour))
        self.register_buffer("light", torch.tensor([0.3, 0.8, 0.52]))

    def forward(self, normal, view, albedo, depth):
        n, v = normal, view
        half = unit(v + self.light)
        diffuse = dot(n, self.light).clamp(min=0)
        spec = dot(n, half).clamp(min=1e-4) ** self.shininess
        lit = albedo * (0.1 + diffuse) + 0.4 * spec
        f = torch.exp(-self.density * depth)
        return lit * f + self.fog * (1 - f)


def get_inputs():
    n = 120000
    normals, views = (unit(torch.randn(n, 3)) for _ in range(2))
    return [normals, views, torch.rand(n, 3), torch.rand(n, 1) * 50]


def get_init_inputs():
    return [16.0, 0.03, [0.6, 0.7, 0.8]]
