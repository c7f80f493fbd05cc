import torch
import torch.nn as nn


class Model(nn.Module):
    """Convolution, SiLU, difference between neighbouring rows and columns, absolute sums."""

    def __init__(self, n_channels, n_features):
        super().__init__()
        self.features = nn.Conv2d(n_channels, n_features, kernel_size=3, padding=1)

    def forward(self, x):
        f = nn.functional.silu(self.features(x))
        dy = (f[:, :, 1:, :] - f[:, :, :-1, :]).abs()
        dx = (f[:, :, :, 1:] - f[:, :, :, :-1]).abs()
        return dy.mean(dim=(1, 2, 3)) + dx.mean(dim=(1, 2, 3))


def get_inputs():
    return [torch.rand(16, 3, 64, 64)]


def get_init_inputs():
    return [3, 16]
