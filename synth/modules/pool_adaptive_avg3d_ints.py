import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, d: int, h: int, w: int):
        super(Model, self).__init__()
        self.pool = nn.AdaptiveAvgPool3d(output_size=(d, h, w))

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(3, 24, 16, 35, 42)]


def get_init_inputs():
    return [4, 7, 6]
