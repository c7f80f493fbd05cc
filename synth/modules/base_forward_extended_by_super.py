import torch
import torch.nn as nn


class PlainConv(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.conv = nn.Conv2d(in_ch, out_ch, kernel_size=3, padding=1)

    def forward(self, x):
        return self.conv(x)


class Activated(PlainConv):
    def forward(self, x):
        return torch.nn.functional.softplus(super().forward(x))


class Model(Activated):
    """Adds the pooled skip path on top of the parents' forward."""

    def __init__(self, in_ch, out_ch):
        super().__init__(in_ch, out_ch)
        self.skip = nn.Conv2d(in_ch, out_ch, kernel_size=1, bias=False)

    def forward(self, x):
        body = super().forward(x)
        return nn.functional.avg_pool2d(body + self.skip(x), 2)


def get_inputs():
    return [torch.randn(6, 12, 80, 80)]


def get_init_inputs():
    return [12, 24]
