import torch
import torch.nn as nn


class Model(nn.Module):
    """Signed area, perimeter and centroid of closed polygons with equal vertex counts."""

    def __init__(self):
        super().__init__()

    def forward(self, verts):
        nxt = torch.roll(verts, shifts=-1, dims=1)
        cross = verts[..., 0] * nxt[..., 1] - nxt[..., 0] * verts[..., 1]
        area = 0.5 * cross.sum(1)
        perimeter = (nxt - verts).pow(2).sum(-1).sqrt().sum(1)
        moment = ((verts + nxt) * cross.unsqueeze(-1)).sum(1)
        safe = torch.where(area.abs() < 1e-3, torch.full_like(area, 1e-3), area)
        return area, perimeter, moment / (6 * safe[:, None])


def get_inputs():
    return [torch.randn(20000, 24, 2)]


def get_init_inputs():
    return []
