import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Model that performs convolution, group normalization, HardSwish (spelled out), max pooling and clamping.
    """

    def __init__(self, in_channels, out_channels, kernel_size, num_groups, maxpool_kernel_size, clamp_min, clamp_max):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)
        self.maxpool = nn.MaxPool2d(kernel_size=maxpool_kernel_size)
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x):
        x = self.conv(x)
        x = self.group_norm(x)
        x = x * torch.clamp(x + 3, 0, 6) / 6
        x = self.maxpool(x)
        x = x.clamp(self.clamp_min, self.clamp_max)
        return x


batch_size = 16
in_channels = 6
out_channels = 32
height = width = 56


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, 3, 8, 3, -0.2, 1.0]
