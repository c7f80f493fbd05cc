import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Weight normalisation by hand: w = g * v / |v| per output row."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.v = nn.Parameter(torch.randn(fan_out, fan_in))
        self.g = nn.Parameter(torch.ones(fan_out, 1))
        self.b = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        w = self.g * self.v / self.v.norm(dim=1, keepdim=True)
        return F.linear(x, w, self.b)


def get_inputs():
    return [torch.randn(900, 420)]


def get_init_inputs():
    return [420, 560]
