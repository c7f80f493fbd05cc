import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c0=3, c1=16, c2=32):
        super().__init__()
        self.conv1_1 = nn.Conv2d(c0, c1, 3, 1, 1)
        self.conv1_2 = nn.Conv2d(c1, c1, 3, 1, 1)
        self.pool_1 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.conv2_1 = nn.Conv2d(c1, c2, 3, 1, 1)
        self.act0 = nn.ReLU(inplace=True)

    def forward(self, x0):
        x1 = self.act0(self.conv1_1(x0))
        x2 = self.act0(self.conv1_2(x1))
        x3 = self.pool_1(x2)
        x4 = self.act0(self.conv2_1(x3))
        return x4


def get_inputs():
    return [torch.randn(4, 3, 100, 100)]


def get_init_inputs():
    return []
