import torch
import torch.nn as nn


class Model(nn.Module):
    """Upsamples a waveform by a whole factor."""

    def __init__(self, in_channels: int, out_channels: int, rate: int):
        super().__init__()
        self.up = nn.ConvTranspose1d(in_channels, out_channels, 2 * rate, stride=rate, padding=rate // 2 + rate % 2, output_padding=rate % 2)

    def forward(self, x):
        return self.up(x)


def get_inputs():
    return [torch.randn(6, 64, 400)]


def get_init_inputs():
    return [64, 32, 5]
