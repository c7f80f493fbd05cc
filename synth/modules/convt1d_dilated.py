import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Sequence deconvolution with gaps between the taps.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.conv1d_transpose = nn.ConvTranspose1d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d_transpose(x)

batch_size = 7
length = 700

def get_inputs():
    return [torch.randn(batch_size, 40, length)]

def get_init_inputs():
    return [40, 28, 5, 1, 2, 3]
