import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Transposed 2D convolution, asymmetric kernel, grouped, padded, strided and dilated.

    Args:
        in_channels (int): channels in.
        out_channels (int): channels out.
        kernel_size (tuple): (height, width).
        stride (tuple, optional): Defaults to (1, 1).
        padding (tuple, optional): Defaults to (0, 0).
        dilation (tuple, optional): Defaults to (1, 1).
        groups (int, optional): Defaults to 1.
        bias (bool, optional): Defaults to False.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple, stride: tuple = (1, 1), padding: tuple = (0, 0), dilation: tuple = (1, 1), groups: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.conv_transpose2d = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose2d(x)

def get_inputs():
    return [torch.randn(4, 24, 40, 52)]

def get_init_inputs():
    return [24, 36, (4, 3), (2, 1), (1, 1), (1, 2), 3]
