import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Simple model: 3D convolution, minimum along the depth, hardswish, sum over channels weighted by a parameter.
    """

    def __init__(self, in_channels, out_channels, kernel_size):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.weight = nn.Parameter(torch.randn(out_channels, 1, 1))

    def forward(self, x):
        x = self.conv(x)
        x, _ = torch.min(x, dim=2)
        x = F.hardswish(x)
        x = torch.sum(x * self.weight, dim=1, keepdim=True)
        return x


batch_size, in_channels, out_channels = 4, 3, 22
depth, height, width = 12, 38, 35


def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, (3, 3, 3)]
