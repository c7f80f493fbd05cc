import torch
import torch.nn as nn


class Model(nn.Module):
    """Mean of three bounded activations, scaled to the same limits."""

    def forward(self, x):
        a = torch.erf(x)
        b = torch.atan(x) * (2 / 3.141592653589793)
        c = torch.tanh(x)
        return (a + b + c) / 3


def get_inputs():
    return [torch.randn(1000, 1850)]


def get_init_inputs():
    return []
