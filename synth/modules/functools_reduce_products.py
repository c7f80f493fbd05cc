from functools import reduce
import torch
import torch.nn as nn


class Model(nn.Module):
    """Multiplies a list of matrices from left to right."""

    def forward(self, a, b, c, d):
        return reduce(torch.matmul, (a, b, c, d))


def get_inputs():
    return [torch.randn(200, 300), torch.randn(300, 100) / 10, torch.randn(100, 400) / 10, torch.randn(400, 250) / 10]


def get_init_inputs():
    return []
