import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Convolution, leaky rectifier, multiplication by a learned map, leaky rectifier.
    """
    def __init__(self, in_channels, out_channels, kernel_size, multiplier_shape):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.leaky = nn.LeakyReLU(0.05)

    def forward(self, x):
        x = self.conv(x)
        x = self.leaky(x)
        x = x * self.multiplier
        return self.leaky(x)

batch_size = 8
in_channels = 10
out_channels = 24
height, width = 62, 62
kernel_size = 3
multiplier_shape = (out_channels, 1, 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size, multiplier_shape]
