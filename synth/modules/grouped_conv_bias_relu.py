import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, inplanes, planes, kernel_size, groups):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(inplanes, planes, kernel_size, padding=kernel_size // 2, groups=groups)

    def forward(self, x):
        return F.relu(self.conv(x), inplace=True)


def get_inputs():
    return [torch.randn(8, 48, 40, 38)]


def get_init_inputs():
    return [48, 72, 3, 4]
