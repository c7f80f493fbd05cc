import torch
import torch.nn as nn
import torch.nn.functional as F


class BasicConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, **kwargs)

    def forward(self, x):
        return F.relu(self.conv(x), inplace=True)


class Model(nn.Module):
    def __init__(self, cin, c1, c3r, c3, c5r, c5, cp):
        super().__init__()
        self.branch1 = BasicConv2d(cin, c1, kernel_size=1)
        self.branch2 = nn.Sequential(BasicConv2d(cin, c3r, kernel_size=1), BasicConv2d(c3r, c3, kernel_size=3, padding=1))
        self.branch3 = nn.Sequential(BasicConv2d(cin, c5r, kernel_size=1), BasicConv2d(c5r, c5, kernel_size=5, padding=2))
        self.branch4 = nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1, ceil_mode=True), BasicConv2d(cin, cp, kernel_size=1))

    def forward(self, x):
        branches = [self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)]
        return torch.cat(branches, 1)


def get_inputs():
    return [torch.randn(6, 96, 28, 28)]


def get_init_inputs():
    return [96, 32, 48, 64, 8, 16, 16]
