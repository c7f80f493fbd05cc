import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Depthwise-separable 2D convolution.

    Args:
        in_channels (int): channels of the input.
        out_channels (int): channels of the output.
        kernel_size (int): of the depthwise part.
        stride (int, optional): of the depthwise part.
        padding (int, optional): of the depthwise part.
        dilation (int, optional): of the depthwise part.
        bias (bool, optional): in both parts.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.depth = nn.Conv2d(in_channels, in_channels, kernel_size, stride, padding, dilation, groups=in_channels, bias=bias)
        self.point = nn.Conv2d(in_channels, out_channels, 1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.depth(x)
        x = self.point(x)
        return x

def get_inputs():
    return [torch.randn(7, 32, 75, 83)]

def get_init_inputs():
    return [32, 56, 3, 2, 2, 2, True]
