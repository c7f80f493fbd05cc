import torch
import torch.nn as nn


def my_elu(t, a):
    pos = torch.clamp(t, min=0)
    neg = a * torch.expm1(torch.clamp(t, max=0))
    return pos + neg


class Model(nn.Module):
    def __init__(self, i, o, a):
        super().__init__()
        self.L = nn.Linear(i, o)
        self.a = a

    def forward(self, x):
        return my_elu(self.L(x), self.a).sum(-1) / self.L.out_features


def get_inputs():
    return [torch.randn(800, 252)]


def get_init_inputs():
    return [252, 600, 1.5]
