import torch
import torch.nn as nn


class Model(nn.Module):
    """
    3D transposed convolution, batch norm in training mode, minus the spatial mean, absolute value.
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, bias=True):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, bias=bias)
        self.batch_norm = nn.BatchNorm3d(out_channels)

    def forward(self, x):
        x = self.batch_norm(self.conv_transpose(x))
        x = x - torch.mean(x, dim=(2, 3, 4), keepdim=True)
        x = torch.abs(x)
        return torch.mean(x, dim=1)


def get_inputs():
    return [torch.randn(4, 10, 7, 13, 13)]


def get_init_inputs():
    return [10, 14, 3, 2, 1, False]
