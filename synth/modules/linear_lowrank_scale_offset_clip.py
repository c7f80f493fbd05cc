import torch
import torch.nn as nn


class Model(nn.Module):
    """Low-rank linear map (two factors), column scale, offset, symmetric clip, squared row norm."""

    def __init__(self, n, rank, m, clip):
        super().__init__()
        self.A = nn.Parameter(torch.randn(n, rank) / n ** 0.5)
        self.B = nn.Parameter(torch.randn(rank, m) / rank ** 0.5)
        self.scale = nn.Parameter(torch.rand(m) + 0.5)
        self.offset = nn.Parameter(torch.randn(m) * 0.1)
        self.clip = clip

    def forward(self, x):
        y = x @ self.A @ self.B * self.scale + self.offset
        y = torch.clamp(y, -self.clip, self.clip)
        return y, torch.sum(y ** 2, dim=-1)


def get_inputs():
    return [torch.randn(1250, 240)]


def get_init_inputs():
    return [240, 24, 330, 1.8]
