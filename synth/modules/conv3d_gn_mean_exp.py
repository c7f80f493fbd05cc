import torch
import torch.nn as nn


class Model(nn.Module):
    """3D convolution, group normalisation, negative exponential, mean over depth and height."""

    def __init__(self, in_channels, out_channels, kernel_size, num_groups, rate):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)
        self.rate = rate

    def forward(self, x):
        x = self.conv(x)
        x = self.group_norm(x)
        x = torch.exp(-self.rate * x.abs())
        x = torch.mean(x, dim=[2, 3])
        return x


batch_size, in_channels, out_channels = 5, 3, 18
D, H, W = 13, 29, 31


def get_inputs():
    return [torch.randn(batch_size, in_channels, D, H, W)]


def get_init_inputs():
    return [in_channels, out_channels, 3, 6, 0.7]
