import torch
from torch import Tensor
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, bias: Tensor, a: Tensor, b: Tensor, alpha: float, beta: float):
        return torch.addmm(bias, a, b, alpha=alpha, beta=beta)


def get_inputs():
    return [torch.randn(410), torch.randn(780, 360), torch.randn(360, 410), 0.5, 1.5]


def get_init_inputs():
    return []
