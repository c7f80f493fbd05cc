import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, k: int, s: int, p: int, count_include_pad: bool):
        super().__init__()
        self.k = k
        self.s = s
        self.p = p
        self.count_include_pad = count_include_pad

    def forward(self, x):
        return F.avg_pool1d(x, kernel_size=self.k, stride=self.s, padding=self.p, count_include_pad=self.count_include_pad)


def get_inputs():
    return [torch.randn(9, 64, 1501)]


def get_init_inputs():
    return [7, 2, 3, False]
