import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Transposed convolution + bias, clip to [0, 1], multiply, clip again, mean over height.
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, factor):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size,
            stride=stride, padding=padding, output_padding=output_padding, bias=False,
        )
        self.bias = nn.Parameter(0.3 * torch.ones(bias_shape))
        self.factor = factor

    def forward(self, x):
        y = self.conv_transpose(x) + self.bias
        y = y.clamp(0.0, 1.0) * self.factor
        y = y.clamp(max=1.5)
        return y.mean(dim=-2)


def get_inputs():
    return [torch.randn(10, 16, 22, 26)]


def get_init_inputs():
    return [16, 14, 3, 2, 1, 1, (14, 1, 1), 2.0]
