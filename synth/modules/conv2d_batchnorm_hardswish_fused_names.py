import torch
import torch.nn as nn


class ConvBNAct(nn.Sequential):
    def __init__(self, inp, oup, kernel_size=3, stride=1):
        super().__init__(
            nn.Conv2d(inp, oup, kernel_size, stride, (kernel_size - 1) // 2, bias=False),
            nn.BatchNorm2d(oup, eps=0.001, momentum=0.01),
            nn.Hardswish(),
        )


class Model(nn.Module):
    """Two ConvBNAct stages and a global average."""

    def __init__(self, inp, mid, oup):
        super().__init__()
        self.stage1 = ConvBNAct(inp, mid, 3, 2)
        self.stage2 = ConvBNAct(mid, oup, 1)

    def forward(self, x):
        return self.stage2(self.stage1(x)).mean(dim=[2, 3])


def get_inputs():
    return [torch.randn(8, 3, 96, 96)]


def get_init_inputs():
    return [3, 16, 40]
