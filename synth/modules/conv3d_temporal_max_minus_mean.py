import torch
import torch.nn as nn


class Model(nn.Module):
    """Motion energy: Conv3d, square, difference between max and mean in time, square root."""

    def __init__(self, colours, maps, size):
        super().__init__()
        self.st = nn.Conv3d(colours, maps, size, bias=False)

    def forward(self, movie):
        e = self.st(movie) ** 2
        contrast = e.max(dim=2)[0] - e.mean(dim=2)
        return contrast.clamp(min=0).sqrt()


def get_inputs():
    return [torch.rand(4, 3, 12, 32, 32)]


def get_init_inputs():
    return [3, 16, (3, 5, 5)]
