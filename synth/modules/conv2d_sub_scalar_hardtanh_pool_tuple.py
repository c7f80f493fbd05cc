import torch
import torch.nn as nn


class Model(nn.Module):
    """Convolves, subtracts two constants around a hardtanh, returns both pooled versions."""

    def __init__(self, in_channels, out_channels, kernel_size, subtract_value_1, subtract_value_2):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract_value_1 = subtract_value_1
        self.subtract_value_2 = subtract_value_2
        self.hard = nn.Hardtanh(-0.6, 0.9)

    def forward(self, x):
        x = self.conv(x)
        x = self.hard(x - self.subtract_value_1)
        x = x - self.subtract_value_2
        return nn.functional.avg_pool2d(x, 4), nn.functional.max_pool2d(x, 4)


def get_inputs():
    return [torch.randn(8, 7, 70, 70)]


def get_init_inputs():
    return [7, 22, 3, 0.25, -0.1]
