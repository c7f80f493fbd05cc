import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Performs a convolution, multiplies by a learnable scalar, takes the elementwise minimum with a constant,
    and reduces the height by a maximum.
    """

    def __init__(self, in_channels, out_channels, kernel_size, constant_value, scaling_factor):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.constant_value = constant_value
        self.scaling_factor = nn.Parameter(torch.tensor(scaling_factor))

    def forward(self, x):
        x = self.conv(x)
        x = self.scaling_factor * x
        x = torch.min(x, torch.tensor(self.constant_value))
        return torch.max(x, dim=2)[0]


batch_size = 12
in_channels = 5
out_channels = 31
height, width = 45, 57
kernel_size = 3


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, 0.35, 1.75]
