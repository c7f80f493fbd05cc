import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv, cos activation, average pooling with count_include_pad off, square sum for every sample."""

    def __init__(self, in_channels, out_channels, kernel_size, pool_kernel_size):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.avg_pool = nn.AvgPool2d(pool_kernel_size, padding=1, count_include_pad=False)

    def forward(self, x):
        x = torch.cos(self.conv(x))
        x = self.avg_pool(x)
        x = torch.sum(x ** 2, dim=[1, 2, 3])
        return x


batch_size = 24
in_channels = 8
out_channels = 20


def get_inputs():
    return [torch.randn(batch_size, in_channels, 47, 47)]


def get_init_inputs():
    return [in_channels, out_channels, 3, 4]
