import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, in_ch: int, out_ch: int, k: int, groups: int):
        super().__init__()
        self.groups = groups
        self.pad = k // 2
        self.filters = nn.Parameter(torch.randn(out_ch, in_ch // groups, k, k) * 0.1)

    def forward(self, x):
        return F.conv2d(x, self.filters, None, 1, self.pad, 1, self.groups)


def get_inputs():
    return [torch.randn(6, 48, 52, 52)]


def get_init_inputs():
    return [48, 96, 3, 6]
