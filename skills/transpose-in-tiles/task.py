"""Move the channels last and scale each of them."""
import torch
import torch.nn as nn

BATCH = 4
CHANNELS = 1024
LENGTH = 1024


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        return x.transpose(1, 2).contiguous() * self.gain


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS]
