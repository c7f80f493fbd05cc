import torch
import torch.nn as nn


class Model(nn.Module):
    """
    3D convolution, multiplication by a learnable scalar per channel, LeakyReLU,
    group norm, max over channels and mean over depth.
    """

    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape, num_groups):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.gn = nn.GroupNorm(num_groups, out_channels)

    def forward(self, x):
        x = self.conv(x)
        x = x * self.multiplier
        x = nn.functional.leaky_relu(x, negative_slope=0.3)
        x = self.gn(x)
        x = torch.max(x, dim=1)[0]
        return x.mean(dim=1)


batch_size = 4
in_channels = 5
out_channels = 16
depth, height, width = 10, 26, 30
kernel_size = 3
multiplier_shape = (out_channels, 1, 1, 1)


def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, multiplier_shape, 4]
