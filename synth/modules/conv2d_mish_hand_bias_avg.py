import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Performs a 2D convolution, applies a hand-written Mish, subtracts a learned bias, then average pools.
    """

    def __init__(self, in_channels, out_channels, kernel_size, bias_shape, pool_size):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.02)
        self.avg = nn.AvgPool2d(pool_size)

    def forward(self, x):
        x = self.conv(x)
        x = x * torch.tanh(torch.log(1 + torch.exp(x)))
        x = x - self.bias
        x = self.avg(x)
        return x


batch_size = 16
in_channels = 8
out_channels = 24
height, width = 64, 64
kernel_size = 3
bias_shape = (out_channels, 1, 1)
pool_size = 2


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, bias_shape, pool_size]
