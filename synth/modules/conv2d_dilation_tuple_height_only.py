import torch
import torch.nn as nn

class Model(nn.Module):
    """
    2D convolution over spectrograms, dilated along frequency only.

    Args:
        in_channels (int): Number of input channels.
        out_channels (int): Number of output channels.
        kernel_size (tuple): (frequency, time).
        dilation (tuple): (frequency, time).
        padding (tuple): (frequency, time).
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple, dilation: tuple, padding: tuple):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size=kernel_size, dilation=dilation, padding=padding)

    def forward(self, spec: torch.Tensor) -> torch.Tensor:
        return self.conv(spec)

def get_inputs():
    return [torch.randn(6, 4, 128, 150)]

def get_init_inputs():
    return [4, 24, (3, 5), (4, 1), (4, 2)]
