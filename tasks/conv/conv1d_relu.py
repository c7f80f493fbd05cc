"""One-dimensional convolution with bias, then ReLU."""
import torch
import torch.nn as nn

BATCH = 16
CHANNELS_IN = 32
CHANNELS_OUT = 64
LENGTH = 1024


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv1d(channels_in, channels_out, kernel_size=5, padding=2)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS_IN, LENGTH)]


def get_init_inputs():
    return [CHANNELS_IN, CHANNELS_OUT]
