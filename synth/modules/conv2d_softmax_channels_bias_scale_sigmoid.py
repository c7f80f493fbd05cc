import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape, scaling_factor):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding="valid")
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = self.conv(x)
        x = torch.softmax(x + self.bias, dim=1)   # over the channels
        x = x * self.scaling_factor
        return torch.sigmoid(x)


def get_inputs():
    return [torch.randn(8, 5, 60, 44)]


def get_init_inputs():
    return [5, 21, 3, (21, 1, 1), 8.0]
