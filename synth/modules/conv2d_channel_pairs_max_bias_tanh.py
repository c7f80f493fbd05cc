import torch
import torch.nn as nn


class Model(nn.Module):
    """MFM activation of LightCNN: maximum of two halves of the conv's channels; then pooling and bias."""

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=1):
        super().__init__()
        self.out_channels = out_channels
        self.filter = nn.Conv2d(in_channels, 2 * out_channels, kernel_size=kernel_size, stride=stride, padding=padding)
        self.b = nn.Parameter(torch.randn(out_channels, 1, 1) * 0.1)

    def forward(self, x):
        x = self.filter(x)
        first, second = torch.split(x, self.out_channels, 1)
        x = torch.max(first, second)
        x = nn.functional.max_pool2d(x, 2) + nn.functional.avg_pool2d(x, 2)
        return x + self.b


def get_inputs():
    return [torch.randn(8, 9, 48, 44)]


def get_init_inputs():
    return [9, 22]
