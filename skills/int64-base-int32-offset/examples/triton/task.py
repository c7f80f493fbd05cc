"""Scale and shift per channel of an NCHW tensor, then ReLU."""
import torch
import torch.nn as nn

BATCH = 4
CHANNELS = 16
SIDE = 24


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(channels))
        self.shift = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        return torch.relu(x * self.scale[None, :, None, None] + self.shift[None, :, None, None])


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS]
