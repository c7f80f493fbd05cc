import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    """Doubles a volume in every direction and cuts off what is negative."""

    def __init__(self, c0: int, c1: int, stride: int, padding: int, extra: int):
        super().__init__()
        self.stride = stride
        self.padding = padding
        self.extra = extra
        self.taps = nn.Parameter(torch.randn(c0, c1, 3, 3, 3) * 0.1)
        self.level = nn.Parameter(torch.zeros(c1))

    def forward(self, vol):
        big = F.conv_transpose3d(vol, self.taps, self.level, stride=self.stride,
                                 padding=self.padding, output_padding=self.extra)
        return big.relu()


def get_inputs():
    return [torch.randn(2, 10, 14, 30, 32)]


def get_init_inputs():
    return [10, 6, 2, 1, 1]
