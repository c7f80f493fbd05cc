import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Convolution over sequences, all of the options exposed.

    Args:
        in_channels (int): channels of the sequence.
        out_channels (int): number of filters.
        kernel_size (int): filter length.
        stride (int, optional): Stride of the convolution. Defaults to 1.
        padding (int, optional): Padding on both sides. Defaults to 0.
        dilation (int, optional): gap between filter taps. Defaults to 1.
        groups (int, optional): channel groups. Defaults to 1.
        bias (bool, optional): Whether a bias is learned. Defaults to False.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1, bias: bool = False):
        super(Model, self).__init__()
        self.conv1d = nn.Conv1d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        Args:
            x (torch.Tensor): shape (batch_size, in_channels, length).

        Returns:
            torch.Tensor: shape (batch_size, out_channels, length_out).
        """
        return self.conv1d(x)

def get_inputs():
    return [torch.randn(12, 40, 1800)]

def get_init_inputs():
    return [40, 64, 5, 2, 2, 1, 4, True]
