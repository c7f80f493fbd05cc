import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Transposed 3D convolution with an asymmetric kernel and a cubic input.

    Args:
        in_channels (int): channels of the input.
        out_channels (int): channels of the output.
        kernel_size (tuple): (depth, width, height).
        stride (tuple, optional): Defaults to (1, 1, 1).
        padding (tuple, optional): Defaults to (0, 0, 0).
        bias (bool, optional): Defaults to False.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple, stride: tuple = (1, 1, 1), padding: tuple = (0, 0, 0), bias: bool = False):
        super(Model, self).__init__()
        self.up3d = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.up3d(x)

def get_inputs():
    return [torch.randn(2, 12, 18, 18, 18)]

def get_init_inputs():
    return [12, 16, (2, 3, 4), (1, 2, 2), (0, 1, 1)]
