import torch
import torch.nn as nn


class Model(nn.Module):
    """
    3D convolution, channel dropout (inactive), scaling, bias, ReLU, sum over the spatial axes.
    """

    def __init__(self, in_channels, out_channels, kernel_size, scaling_factor, bias_shape):
        super().__init__()
        self.conv3d = nn.Conv3d(in_channels, out_channels, kernel_size, padding=1)
        self.drop = nn.Dropout3d(p=0.0)
        self.scaling_factor = nn.Parameter(torch.tensor(scaling_factor))
        self.bias = nn.Parameter(torch.zeros(bias_shape))

    def forward(self, x):
        x = self.drop(self.conv3d(x))
        x = x * self.scaling_factor
        x = torch.relu(x + self.bias)
        return x.sum(dim=(2, 3, 4))


def get_inputs():
    return [torch.rand(6, 6, 10, 20, 22)]


def get_init_inputs():
    return [6, 14, 3, 0.5, (14, 1, 1, 1)]
