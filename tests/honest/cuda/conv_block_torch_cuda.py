"""The frozen batch norm is folded into the first convolution on every call; epilogues in place."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, kernel_size=3, padding=1)

    def forward(self, x):
        norm = self.norm
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        weight = self.first.weight * scale.view(-1, 1, 1, 1)
        bias = norm.bias - norm.running_mean * scale
        y = F.conv2d(x, weight, bias, padding=1).relu_()
        y = F.conv2d(y, self.second.weight, self.second.bias, padding=1)
        return y.add_(x).relu_()
