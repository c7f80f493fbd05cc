import torch
import torch.nn as nn
import torch.nn.functional as F
from functools import partial

INPUT_CHANNELS = 48
SPATIAL = 17


class BasicConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        x = self.conv(x)
        x = self.bn(x)
        return F.relu(x, inplace=True)


class Model(nn.Module):
    """Factorised 7x7 branches, concatenated along the channel axis."""

    def __init__(self, in_channels, channels_7x7=24, conv_block=None):
        super().__init__()
        block = conv_block or BasicConv2d
        c7 = channels_7x7
        self.branch1x1 = block(in_channels, 32, kernel_size=1)
        self.branch7x7_1 = block(in_channels, c7, kernel_size=1)
        self.branch7x7_2 = block(c7, c7, kernel_size=(1, 7), padding=(0, 3))
        self.branch7x7_3 = block(c7, 32, kernel_size=(7, 1), padding=(3, 0))
        self.branch3x3 = block(in_channels, 32, kernel_size=3, padding=1)
        self.branch_pool = block(in_channels, 32, kernel_size=1)
        self._pool = partial(F.avg_pool2d, kernel_size=3, stride=1, padding=1)

    def _forward(self, x):
        branch1x1 = self.branch1x1(x)
        branch7x7 = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        branch3x3 = self.branch3x3(x)
        branch_pool = self.branch_pool(self._pool(x))
        return [branch1x1, branch7x7, branch3x3, branch_pool]

    def forward(self, x):
        outputs = self._forward(x)
        return torch.cat(outputs, 1)


def get_inputs():
    return [torch.randn(4, INPUT_CHANNELS, SPATIAL, SPATIAL)]


def get_init_inputs():
    return [INPUT_CHANNELS]
