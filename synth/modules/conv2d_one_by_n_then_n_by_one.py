import torch
import torch.nn as nn


class Model(nn.Module):
    """A large kernel split in a row kernel and a column kernel."""

    def __init__(self, channels, n):
        super().__init__()
        half = n // 2
        self.row = nn.Conv2d(channels, channels, kernel_size=(1, n), padding=(0, half), bias=False)
        self.col = nn.Conv2d(channels, channels, kernel_size=(n, 1), padding=(half, 0))

    def forward(self, x):
        return self.col(self.row(x))


def get_inputs():
    return [torch.randn(4, 32, 56, 56)]


def get_init_inputs():
    return [32, 7]
