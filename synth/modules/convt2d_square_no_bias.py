import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Transposed 2D convolution with a square kernel.

    Args:
        in_channels (int): channels coming in.
        out_channels (int): channels going out.
        kernel_size (int): side of the kernel.
        stride (int, optional): Defaults to 1.
        padding (int, optional): Defaults to 0.
        output_padding (int, optional): Added to one side of the output. Defaults to 0.
        groups (int, optional): Defaults to 1.
        bias (bool, optional): Defaults to False.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, output_padding: int = 0, groups: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.deconv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.deconv(x)

def get_inputs():
    return [torch.randn(5, 32, 33, 47)]

def get_init_inputs():
    return [32, 24, 5, 3, 2, 1]
