import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """One gated layer: dilated causal convolution, tanh * sigmoid of halves, a residual add."""

    def __init__(self, channels, kernel_size, dilation):
        super().__init__()
        self.pad = (kernel_size - 1) * dilation
        self.conv = nn.Conv1d(channels, 2 * channels, kernel_size, dilation=dilation)

    def forward(self, x):
        y = self.conv(F.pad(x, (self.pad, 0)))
        a, b = y.chunk(2, dim=1)
        return x + torch.tanh(a) * torch.sigmoid(b)


def get_inputs():
    return [torch.randn(8, 32, 800)]


def get_init_inputs():
    return [32, 3, 4]
