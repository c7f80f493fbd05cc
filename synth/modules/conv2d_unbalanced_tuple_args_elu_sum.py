import torch
import torch.nn as nn


class Model(nn.Module):
    """Convolution with tuple arguments everywhere, ELU, asymmetric average pooling, sum of channels."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias):
        super().__init__()
        self.conv2d = nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias)
        self.elu = nn.ELU(1.0)
        self.pool = nn.AvgPool2d(kernel_size=(3, 1), stride=(2, 1), padding=(1, 0))

    def forward(self, x):
        y = self.elu(self.conv2d(x))
        y = self.pool(y)
        return y.sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(6, 12, 60, 76)]


def get_init_inputs():
    return [12, 36, (3, 5), (1, 2), (1, 2), (2, 1), 3, False]
