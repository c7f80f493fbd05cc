import torch
import torch.nn as nn


class Model(nn.Module):
    """Valid convolution with a residual from the centre-cropped input, divided by sqrt(2)."""

    def __init__(self, channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size)
        self.m = (kernel_size - 1) // 2
        self.act = nn.Tanh()

    def forward(self, x):
        m = self.m
        cropped = x[:, :, m:-m, m:-m]
        return (cropped + self.act(self.conv(x))) / 2 ** 0.5


def get_inputs():
    return [torch.randn(8, 18, 50, 54)]


def get_init_inputs():
    return [18, 5]
