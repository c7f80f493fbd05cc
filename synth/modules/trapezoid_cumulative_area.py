import torch
import torch.nn as nn


class Model(nn.Module):
    """Area under sampled curves: trapezoids added up along the last axis."""

    def __init__(self, dx: float):
        super().__init__()
        self.dx = dx

    def forward(self, y):
        strips = 0.5 * self.dx * (y[:, 1:] + y[:, :-1])
        return strips.cumsum(dim=1)


def get_inputs():
    return [torch.rand(300, 2049)]


def get_init_inputs():
    return [0.01]
