import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv2d with separate learned row and column biases, then GELU and mean over columns."""

    def __init__(self, in_channels, out_channels, kernel_size, out_h, out_w):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, bias=False)
        self.row_bias = nn.Parameter(torch.randn(out_h, 1) * 0.1)
        self.col_bias = nn.Parameter(torch.randn(out_w) * 0.1)

    def forward(self, x):
        y = self.conv(x)
        y = y + self.row_bias + self.col_bias
        return nn.functional.gelu(y).mean(3)


def get_inputs():
    return [torch.randn(8, 6, 50, 62)]


def get_init_inputs():
    return [6, 24, 3, 48, 60]
