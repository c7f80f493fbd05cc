import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Convolves, scales by the square of a parameter, applies CELU, keeps the largest of the image in each channel.
    """

    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape, alpha=1.0):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, groups=2)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.alpha = alpha

    def forward(self, x):
        x = self.conv(x)
        x = x * self.multiplier ** 2
        x = F.celu(x, alpha=self.alpha)
        return torch.amax(x, dim=(2, 3))


def get_inputs():
    return [torch.randn(14, 10, 55, 40)]


def get_init_inputs():
    return [10, 38, 3, [38, 1, 1], 0.6]
