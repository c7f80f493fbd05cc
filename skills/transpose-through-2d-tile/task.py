"""Channels-first to channels-last with a gain per channel."""
import torch
import torch.nn as nn

BATCH = 8
CHANNELS = 256
LENGTH = 1024


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        return x.permute(0, 2, 1).contiguous() * self.gain


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS]
