import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Image convolution in which kernel, padding and dilation all differ between height and width.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple, stride: int = 1, padding: tuple = (0, 0), dilation: tuple = (1, 1), bias: bool = False):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, bias=bias)

    def forward(self, x):
        return self.conv(x)

batch_size = 5
in_channels = 24
out_channels = 48
kernel_size = (3, 5)
padding = (2, 6)
dilation = (2, 3)
height, width = 60, 100

def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size, 1, padding, dilation, True]
