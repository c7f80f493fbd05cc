import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS = 12


class Branch(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.conv = nn.Conv2d(channels, 8, kernel, padding=kernel // 2)

    def forward(self, x):
        return F.relu(self.conv(x))


class Model(nn.Module):
    def __init__(self, channels: int, kernel: int, stride: int, padding: int):
        super(Model, self).__init__()
        self.branches = nn.ModuleList([Branch(channels, k) for k in (1, 3)])
        self.kernel = kernel
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        joined = torch.cat([branch(x) for branch in self.branches], dim=1)
        return F.max_pool2d(joined, self.kernel, stride=self.stride, padding=self.padding)


def get_inputs():
    return [torch.randn(2, CHANNELS, 10, 10)]


def get_init_inputs():
    return [CHANNELS, 3, 2, 1]
