import torch
import torch.nn as nn


class Model(nn.Module):
    # qualitative Oren-Nayar with the cos/sin improvement
    def __init__(self, sigma):
        super().__init__()
        s2 = sigma * sigma
        self.A = 1 - 0.5 * s2 / (s2 + 0.33)
        self.B = 0.45 * s2 / (s2 + 0.09)

    def forward(self, normal, light, view, albedo):
        ndl = (normal * light).sum(-1, keepdim=True)
        ndv = (normal * view).sum(-1, keepdim=True)
        ldv = (light * view).sum(-1, keepdim=True)
        s = ldv - ndl * ndv
        t = torch.where(s > 0, torch.maximum(ndl, ndv).clamp(min=0.05), torch.ones_like(s))
        return albedo * ndl.clamp(min=0) * (self.A + self.B * s / t)


def get_inputs():
    def unit():
        v = torch.randn(200000, 3)
        return v / v.norm(dim=1, keepdim=True)
    return [unit(), unit(), unit(), torch.rand(200000, 3)]


def get_init_inputs():
    return [0.5]
