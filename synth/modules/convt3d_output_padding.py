import torch
import torch.nn as nn

class Model(nn.Module):
    """Transposed 3D convolution that doubles depth, height and width."""
    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple, stride: tuple = (1, 1, 1), padding: tuple = (0, 0, 0), output_padding: tuple = (0, 0, 0), groups: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.conv_transpose3d = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding, groups=groups, bias=bias)

    def forward(self, x):
        return self.conv_transpose3d(x)

def get_inputs():
    return [torch.randn(2, 16, 8, 20, 24)]

def get_init_inputs():
    return [16, 12, (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1), 2, True]
