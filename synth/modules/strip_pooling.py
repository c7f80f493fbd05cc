import torch
import torch.nn as nn


class Model(nn.Module):
    """Row and column means, each mixed by a 1-D convolution, added back as a gate over positions."""

    def __init__(self, channels):
        super(Model, self).__init__()
        self.rows = nn.Conv1d(channels, channels, 3, padding=1, groups=channels)
        self.cols = nn.Conv1d(channels, channels, 3, padding=1, groups=channels)

    def forward(self, x):
        r = self.rows(x.mean(dim=3))[:, :, :, None]
        c = self.cols(x.mean(dim=2))[:, :, None, :]
        return x * torch.tanh(r + c) + x


def get_inputs():
    return [torch.randn(6, 66, 64, 72)]


def get_init_inputs():
    return [66]
