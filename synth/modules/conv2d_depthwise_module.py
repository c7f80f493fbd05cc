import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Depthwise 2D convolution: every channel has a filter of its own.

    Args:
        in_channels (int): Channels of input and output.
        kernel_size_h (int): Height of the kernel.
        kernel_size_w (int): Width of the kernel.
        stride_h (int): Vertical stride.
        stride_w (int): Horizontal stride.
        padding_h (int): Vertical padding.
        padding_w (int): Horizontal padding.
    """
    def __init__(self, in_channels: int, kernel_size_h: int, kernel_size_w: int, stride_h: int = 1, stride_w: int = 1, padding_h: int = 0, padding_w: int = 0):
        super(Model, self).__init__()
        self.depthwise = nn.Conv2d(in_channels, in_channels, (kernel_size_h, kernel_size_w), stride=(stride_h, stride_w),
                                   padding=(padding_h, padding_w), groups=in_channels, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.depthwise(x)

def get_inputs():
    return [torch.randn(8, 72, 66, 80)]

def get_init_inputs():
    return [72, 3, 7, 1, 2, 1, 3]
