import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_units, out_units, eps=1e-4):
        super().__init__()
        self.W = nn.Linear(in_units, out_units)
        self.eps = eps

    def forward(self, x):
        y = self.W(x)
        y = y / (y.std(dim=1, keepdim=True, unbiased=False) + self.eps)
        return torch.atan(y)


def get_inputs():
    return [torch.randn(640, 190)]


def get_init_inputs():
    return [190, 505]
