import torch
import torch.nn as nn


class Model(nn.Module):
    """Causal convolution: pad both sides, drop the right end."""

    def __init__(self, channels, kernel_size, dilation=1):
        super().__init__()
        self.trim = (kernel_size - 1) * dilation
        self.conv = nn.Conv1d(channels, channels, kernel_size, padding=self.trim, dilation=dilation)

    def forward(self, x):
        return self.conv(x)[:, :, :-self.trim]


def get_inputs():
    return [torch.randn(8, 32, 1600)]


def get_init_inputs():
    return [32, 3, 8]
