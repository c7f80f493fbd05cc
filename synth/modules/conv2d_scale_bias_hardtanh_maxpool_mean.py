import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Model performing: convolution, affine map by (C,1,1) parameters, hard tanh, 3x3 stride-2 max pool, mean.
    """

    def __init__(self, in_channels, out_channels, kernel_size, affine_shape):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=2, dilation=2)
        self.weight = nn.Parameter(torch.rand(affine_shape) + 0.5)
        self.bias = nn.Parameter(torch.rand(affine_shape) - 0.5)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        """
        :param x: images (N, C_in, H, W)
        :return: (N, C_out)
        """
        x = self.conv(x)
        x = x.mul(self.weight).add(self.bias)
        x = nn.functional.hardtanh(x)
        x = self.pool(x)
        return x.mean([-1, -2])


def get_inputs():
    return [torch.randn(12, 6, 60, 60)]


def get_init_inputs():
    return [6, 28, 3, (28, 1, 1)]
