import math
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, d: int):
        super().__init__()
        self.factor = d ** -0.5

    def forward(self, q, k):
        return torch.matmul(q, k.transpose(-2, -1)) * self.factor


def get_inputs():
    return [torch.randn(6, 5, 210, 56), torch.randn(6, 5, 190, 56)]


def get_init_inputs():
    return [56]
