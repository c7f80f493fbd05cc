import torch
import torch.nn as nn

class Model(nn.Module):
    """
    3D convolution with a non-cubic kernel on a non-cubic volume.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: tuple, stride: tuple = (1, 1, 1), padding: tuple = (0, 0, 0), dilation: tuple = (1, 1, 1), groups: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.conv3d = nn.Conv3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv3d(x)

def get_inputs():
    return [torch.randn(2, 6, 14, 48, 60)]

def get_init_inputs():
    return [6, 20, (3, 1, 5), (1, 2, 2), (1, 0, 2)]
