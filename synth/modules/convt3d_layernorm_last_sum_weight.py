import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Transposed 3D convolution, adds a learned scalar, layer norm over the last axis, average pool, tanh.
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, sum_weight, norm_shape, pool_kernel_size):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride)
        self.sum_weight = nn.Parameter(torch.tensor(sum_weight))
        self.norm = nn.LayerNorm(norm_shape)
        self.avg_pool = nn.AvgPool3d(kernel_size=pool_kernel_size)

    def forward(self, x):
        x = self.conv_transpose(x)
        x = x * self.sum_weight
        x = self.norm(x)
        x = torch.tanh(self.avg_pool(x))
        return x


def get_inputs():
    return [torch.randn(12, 8, 7, 12, 12)]


def get_init_inputs():
    return [8, 12, 2, 2, 0.6, (24,), (2, 2, 2)]
