import torch
import torch.nn as nn


class Unit(nn.Module):
    def __init__(self, cin, growth):
        super().__init__()
        self.norm = nn.GroupNorm(4, cin)
        self.conv = nn.Conv2d(cin, growth, kernel_size=3, padding=1)

    def forward(self, x):
        return self.conv(torch.nn.functional.elu(self.norm(x)))


class Model(nn.Module):
    def __init__(self, cin, growth, depth):
        super(Model, self).__init__()
        self.units = nn.ModuleList([Unit(cin + i * growth, growth) for i in range(depth)])

    def forward(self, x):
        for unit in self.units:
            x = torch.cat([x, unit(x)], dim=1)
        return x


def get_inputs():
    return [torch.randn(5, 32, 36, 48)]


def get_init_inputs():
    return [32, 12, 2]
