"""A cubic polynomial with a power in it."""
import torch
import torch.nn as nn

COUNT = 1048576


class Model(nn.Module):
    def forward(self, x):
        return 0.7978845608 * (x + 0.044715 * x ** 3)


def get_inputs():
    return [torch.randn(COUNT)]
