import torch
import torch.nn as nn


class Model(nn.Module):
    """A function of three pieces: -1 on the left, a cubic in the middle, 1 on the right."""

    def __init__(self, knee):
        super().__init__()
        self.knee = knee

    def forward(self, x):
        t = x / self.knee
        middle = 1.5 * t - 0.5 * t ** 3
        return torch.where(x > self.knee, torch.ones_like(x), torch.where(x < -self.knee, -torch.ones_like(x), middle))


def get_inputs():
    return [torch.randn(40, 48000)]


def get_init_inputs():
    return [0.8]
