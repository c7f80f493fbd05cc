import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, add_shape):
        super().__init__()
        self.ct = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=(1, 2, 2), groups=groups, bias=False)
        self.add = nn.Parameter(torch.randn(add_shape) * 0.3)

    def forward(self, x):
        y = self.ct(x) + self.add
        y = y * y.sigmoid()
        y = -nn.functional.max_pool3d(-y, kernel_size=2)
        return y.mean(dim=(3, 4))


def get_inputs():
    return [torch.randn(4, 16, 7, 12, 12)]


def get_init_inputs():
    return [16, 12, (2, 3, 3), 4, (1, 12, 1, 1, 1)]
