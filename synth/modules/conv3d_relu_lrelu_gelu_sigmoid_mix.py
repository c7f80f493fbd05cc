import torch
import torch.nn as nn


class Model(nn.Module):
    """Four activations in a row after a 3D convolution and then the bias of shape (C, 1, 1, 1)."""

    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.acts = nn.Sequential(nn.Softplus(), nn.Tanh(), nn.CELU(), nn.Hardsigmoid())

    def forward(self, x):
        return self.acts(self.conv(x)).add(self.bias)


def get_inputs():
    return [torch.rand(4, 5, 11, 25, 27)]


def get_init_inputs():
    return [5, 15, 3, (15, 1, 1, 1)]
