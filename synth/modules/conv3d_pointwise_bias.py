import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, bias: bool = True):
        super(Model, self).__init__()
        self.head = nn.Conv3d(in_channels, out_channels, kernel_size=1, bias=bias)

    def forward(self, volume):
        return self.head(volume).softmax(dim=1)


def get_inputs():
    return [torch.randn(2, 24, 28, 32, 36)]


def get_init_inputs():
    return [24, 5]
