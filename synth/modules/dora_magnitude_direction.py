import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """DoRA: weight plus low-rank change, columns brought to a learned magnitude."""

    def __init__(self, d_in, d_out, rank, scaling):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_out, d_in) / d_in**0.5)
        self.A = nn.Parameter(torch.randn(rank, d_in) * 0.02)
        self.B = nn.Parameter(torch.randn(d_out, rank) * 0.02)
        self.magnitude = nn.Parameter(self.weight.detach().norm(dim=1))
        self.scaling = scaling

    def forward(self, x):
        adapted = self.weight + self.scaling * (self.B @ self.A)
        weight_norm = torch.linalg.norm(adapted, dim=1)
        scale = (self.magnitude / weight_norm).unsqueeze(1)
        return F.linear(x, scale * adapted)


def get_inputs():
    return [torch.randn(512, 640)]


def get_init_inputs():
    return [640, 512, 16, 2.0]
