import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, factors):
        super().__init__()
        self.factors = factors

    def views(self, x):
        for f in self.factors:
            yield F.avg_pool2d(x, f) if f > 1 else x

    def forward(self, x):
        return [v.pow(2).mean(dim=(1, 2, 3)).sqrt() for v in self.views(x)]


def get_inputs():
    return [torch.randn(16, 8, 96, 96)]


def get_init_inputs():
    return [(1, 2, 4)]
