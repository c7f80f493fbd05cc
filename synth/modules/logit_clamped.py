import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, p, eps=1e-3):
        p = p.clamp(min=eps, max=1 - eps)
        return torch.log(p / (1 - p))


def get_inputs():
    return [torch.rand(390, 1600)]


def get_init_inputs():
    return []
