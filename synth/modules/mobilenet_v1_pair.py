import torch
from torch import nn


def conv_dw(inp, oup, stride):
    return nn.Sequential(
        nn.Conv2d(inp, inp, 3, stride, 1, groups=inp, bias=False),
        nn.BatchNorm2d(inp),
        nn.ReLU6(inplace=True),
        nn.Conv2d(inp, oup, 1, 1, 0, bias=False),
        nn.BatchNorm2d(oup),
        nn.ReLU6(inplace=True),
    )


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.model = nn.Sequential(conv_dw(c, c * 2, 2), conv_dw(c * 2, c * 2, 1))

    def forward(self, x):
        return self.model(x)


def get_inputs():
    return [torch.rand(5, 32, 56, 56)]

def get_init_inputs():
    return [32]
