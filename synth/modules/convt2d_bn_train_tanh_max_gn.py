import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Transposed convolution, BatchNorm2d, tanh, max pool, group norm.

    Args:
        in_channels (int): channels in
        out_channels (int): channels out
        kernel_size (int): kernel
        stride (int): stride
        padding (int): padding
        groups (int): groups of the transposed convolution
        num_groups (int): groups of the normalisation
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, groups, num_groups):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size,
                                                 stride=stride, padding=padding, groups=groups)
        self.batch_norm = nn.BatchNorm2d(out_channels)
        self.tanh = nn.Tanh()
        self.max_pool = nn.MaxPool2d(2, 2)
        self.group_norm = nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)

    def forward(self, x):
        x = self.conv_transpose(x)
        x = self.tanh(self.batch_norm(x))
        return self.group_norm(self.max_pool(x))


def get_inputs():
    return [torch.rand(8, 24, 20, 20)]


def get_init_inputs():
    return [24, 32, 5, 2, 1, 4, 4]
