import torch
import torch.nn as nn


class Model(nn.Module):
    """Transposed 3-D convolution, average pool, lower clamp, channel softmax, a learned scale per channel."""

    def __init__(self, in_ch, out_ch, kernel, stride, pad, floor):
        super().__init__()
        self.up = nn.ConvTranspose3d(in_ch, out_ch, kernel, stride=stride, padding=pad)
        self.pool = nn.AvgPool3d(2, ceil_mode=False)
        self.floor = floor
        self.scale = nn.Parameter(torch.linspace(0.5, 2.0, out_ch).view(1, -1, 1, 1, 1))

    def forward(self, x):
        x = self.up(x)
        x = self.pool(x)
        x = x.clamp(min=self.floor)
        x = x.softmax(dim=1)
        return x.mul(self.scale)


def get_inputs():
    return [torch.randn(3, 12, 11, 17, 20)]


def get_init_inputs():
    return [12, 20, 4, 2, 1, -0.2]
