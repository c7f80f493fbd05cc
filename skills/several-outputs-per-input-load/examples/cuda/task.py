"""3x3 convolution with few input channels."""
import torch
import torch.nn as nn

BATCH = 8
IN_CHANNELS = 8
OUT_CHANNELS = 32
SIDE = 40


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs():
    return [torch.randn(BATCH, IN_CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS]
