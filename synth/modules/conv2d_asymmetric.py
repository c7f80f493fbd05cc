# conv2d asymmetric
import torch
import torch.nn as nn


class Model(nn.Module):
    """A wide, flat kernel with different steps in the two directions."""

    def __init__(self, cin, cout, kernel, stride, padding):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, kernel_size=kernel, stride=stride, padding=padding)

    def forward(self, spectrogram):
        return torch.log1p(self.conv(spectrogram).abs())


def get_inputs():
    return [torch.randn(4, 6, 81, 400)]


def get_init_inputs():
    return [6, 20, (3, 7), (1, 2), (1, 3)]
