import torch
import torch.nn as nn


class Model(nn.Module):
    """Zero inside the dead band, shifted outside of it."""

    def __init__(self, low, high):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, u):
        above = (u - self.high).clamp(min=0.0)
        below = (u - self.low).clamp(max=0.0)
        return above + below


def get_inputs():
    return [torch.randn(55, 44000)]


def get_init_inputs():
    return [-0.2, 0.5]
