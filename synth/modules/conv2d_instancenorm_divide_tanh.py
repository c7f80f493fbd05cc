import torch
import torch.nn as nn

batch_size = 8
in_channels = 12
out_channels = 28
H, W = 77, 61
kernel_size = (3, 5)
divide_by = 2.0


class Model(nn.Module):
    """
    Simple model: convolution, Instance Normalization, division by a constant, Tanh, mean over width.
    """
    def __init__(self, in_channels, out_channels, kernel_size, divide_by):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.instance_norm = nn.InstanceNorm2d(out_channels)
        self.divide_by = divide_by

    def forward(self, x):
        x = self.conv(x)
        x = self.instance_norm(x)
        x = x / self.divide_by
        x = torch.tanh(x)
        return x.mean(dim=3)


def get_inputs():
    return [torch.randn(batch_size, in_channels, H, W)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, divide_by]
