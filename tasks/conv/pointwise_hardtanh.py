"""1x1 convolution, then a clamp to a symmetric range."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 12
CHANNELS_IN = 64
CHANNELS_OUT = 128
SIDE = 48


class Model(nn.Module):
    def __init__(self, channels_in, channels_out, limit):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size=1)
        self.limit = limit

    def forward(self, x):
        return F.hardtanh(self.conv(x), -self.limit, self.limit)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, SIDE, SIDE)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT, 1.0]
