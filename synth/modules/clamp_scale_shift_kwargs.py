import torch
import torch.nn as nn


class Model(nn.Module):
    """Keyword arguments everywhere."""

    def __init__(self, lower, upper, factor, offset):
        super(Model, self).__init__()
        self.lower = lower
        self.upper = upper
        self.factor = factor
        self.offset = offset

    def forward(self, x):
        clipped = torch.clamp(input=x, min=self.lower, max=self.upper)
        scaled = torch.mul(input=clipped, other=self.factor)
        return torch.add(input=scaled, other=self.offset)

    def extra_repr(self):
        return f'[{self.lower}, {self.upper}] * {self.factor} + {self.offset}'


def get_inputs():
    return [torch.randn(19, 29, 39, 49)]


def get_init_inputs():
    return [-1.5, 0.75, 2.0, 0.1]
