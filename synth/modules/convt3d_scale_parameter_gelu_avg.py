import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding):
        super().__init__()
        self.deconv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                         padding=padding, output_padding=output_padding)
        self.scale = nn.Parameter(torch.ones(1, out_channels, 1, 1, 1) * 2)
        self.pool = nn.AvgPool3d(kernel_size=(1, 2, 2))

    def forward(self, x):
        # upsample -> scale -> gelu -> pool in-plane
        x = self.deconv(x) * self.scale
        x = nn.functional.gelu(x)
        x = self.pool(x)
        return x


def get_inputs():
    return [torch.randn(4, 10, 6, 14, 14)]


def get_init_inputs():
    return [10, 8, 3, 2, 1, 1]
