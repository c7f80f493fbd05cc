import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Transposed conv, minus bias, tanh, plus another bias of one element per column.

    Parameters
    ----------
    in_channels : int
    out_channels : int
    kernel_size : int
    bias_shape : tuple of int
        shape of the first bias
    width_out : int
        columns of the output
    stride, padding, output_padding : int
    """

    def __init__(self, in_channels, out_channels, kernel_size, bias_shape, width_out, stride=2, padding=1, output_padding=1):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride,
                                                 padding=padding, output_padding=output_padding)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.column_bias = nn.Parameter(torch.randn(width_out))

    def forward(self, x):
        x = self.conv_transpose(x)
        x = torch.tanh(x - self.bias)
        return x + self.column_bias


def get_inputs():
    return [torch.randn(8, 24, 16, 28)]


def get_init_inputs():
    return [24, 16, 3, (16, 1, 1), 56]
