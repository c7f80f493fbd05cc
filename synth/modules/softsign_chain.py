import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.div(x.abs().add(1)).neg().exp()


def get_inputs():
    return [torch.randn(999, 777)]


def get_init_inputs():
    return []
