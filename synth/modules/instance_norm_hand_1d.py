import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, wave):
        wave = wave - wave.mean(-1, keepdim=True)
        power = wave.pow(2).mean(-1, keepdim=True)
        return wave / torch.sqrt(power + self.eps)


def get_inputs():
    return [torch.randn(6, 50, 3300)]


def get_init_inputs():
    return [1e-6]
