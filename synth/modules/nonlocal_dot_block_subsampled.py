import torch
import torch.nn as nn


class Model(nn.Module):
    """Non-local block, dot-product version, keys and values max-pooled."""

    def __init__(self, channels):
        super().__init__()
        inter = channels // 2
        self.theta = nn.Conv2d(channels, inter, 1)
        self.phi = nn.Sequential(nn.Conv2d(channels, inter, 1), nn.MaxPool2d(2))
        self.g = nn.Sequential(nn.Conv2d(channels, inter, 1), nn.MaxPool2d(2))
        self.W = nn.Conv2d(inter, channels, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        theta_x = self.theta(x).view(b, c // 2, -1).transpose(1, 2)
        phi_x = self.phi(x).view(b, c // 2, -1)
        g_x = self.g(x).view(b, c // 2, -1).transpose(1, 2)
        f = theta_x @ phi_x
        y = (f / f.size(-1)) @ g_x
        y = y.transpose(1, 2).reshape(b, c // 2, h, w)
        return self.W(y) + x


def get_inputs():
    return [torch.randn(4, 64, 28, 28)]


def get_init_inputs():
    return [64]
