import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """RGB -> YCoCg, chroma halved by averaging and brought back by repetition, -> RGB."""

    def __init__(self):
        super().__init__()

    def forward(self, rgb):
        r, g, b = rgb[:, 0:1], rgb[:, 1:2], rgb[:, 2:3]
        y = 0.25 * r + 0.5 * g + 0.25 * b
        chroma = torch.cat([0.5 * r - 0.5 * b, 0.5 * g - 0.25 * r - 0.25 * b], 1)
        small = F.avg_pool2d(chroma, kernel_size=2)
        big = F.interpolate(small, scale_factor=2, mode="nearest")
        co, cg = big.split(1, dim=1)
        t = y - cg
        return torch.cat([t + co, y + cg, t - co], dim=1).clamp(0.0, 1.0)


def get_inputs():
    return [torch.rand(6, 3, 216, 384)]


def get_init_inputs():
    return []
