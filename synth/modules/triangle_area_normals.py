import torch
import torch.nn as nn


class Model(nn.Module):
    """Areas, unit normals, centroids and edge-length quality of triangles."""

    def forward(self, a, b, c):
        e1, e2, e3 = b - a, c - b, a - c
        n = torch.linalg.cross(e1, -e3)
        double = n.norm(dim=-1)
        area = 0.5 * double
        squares = e1.square().sum(-1) + e2.square().sum(-1) + e3.square().sum(-1)
        quality = 4 * 3 ** 0.5 * area / squares
        return area, n / (double[:, None] + 1e-9), (a + b + c) / 3, quality


def get_inputs():
    return [torch.randn(95000, 3) for _ in range(3)]


def get_init_inputs():
    return []
