import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, norm_type: float, kernel: int, stride: int):
        super().__init__()
        self.pool = nn.LPPool2d(norm_type, kernel, stride=stride)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(10, 32, 72, 72)]


def get_init_inputs():
    return [2, 3, 2]
