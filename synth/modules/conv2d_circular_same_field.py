import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Convolution on a periodic field: wrap padding, then a valid convolution."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.conv = nn.Conv2d(n_in, n_out, 3)

    def forward(self, field):
        field = F.pad(field, (1, 1, 1, 1), mode="circular")
        return self.conv(field)


def get_inputs():
    return [torch.randn(10, 8, 96, 96)]


def get_init_inputs():
    return [8, 16]
