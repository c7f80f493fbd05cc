import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Pointwise (1x1) convolution.
    """
    def __init__(self, in_channels: int, out_channels: int, bias: bool = False):
        super(Model, self).__init__()
        self.conv1x1 = nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=1, padding=0, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        x: (batch_size, in_channels, height, width) -> (batch_size, out_channels, height, width)
        """
        return self.conv1x1(x)

batch_size = 9
in_channels = 112
out_channels = 160
height = 49
width = 51

def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, True]
