import torch
import torch.nn as nn


class Model(nn.Module):
    """
    3D convolution, LeakyReLU, two max pools of different windows, root of the sum of squares over channels.
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)
        self.leaky = nn.LeakyReLU(0.01)
        self.max_pool1 = nn.MaxPool3d(kernel_size=2)
        self.max_pool2 = nn.MaxPool3d(kernel_size=(1, 3, 3))

    def forward(self, x):
        x = self.leaky(self.conv(x))
        x = self.max_pool1(x)
        x = self.max_pool2(x)
        return x.square().sum(dim=1, keepdim=True).sqrt()


def get_inputs():
    return [torch.randn(4, 4, 12, 30, 30)]


def get_init_inputs():
    return [4, 16, 3, 1, 1]
