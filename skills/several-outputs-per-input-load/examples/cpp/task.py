"""1x1 convolution, moderate channel counts."""
import torch
import torch.nn as nn

BATCH = 24
IN_CHANNELS = 32
OUT_CHANNELS = 48
SIDE = 40


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS]
