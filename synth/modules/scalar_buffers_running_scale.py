import torch
import torch.nn as nn


class Model(nn.Module):
    """Scale and zero point held as 0-d buffers; input standardised, projected, restored."""

    def __init__(self, features):
        super().__init__()
        self.register_buffer("loc", torch.tensor(1.25))
        self.register_buffer("scale", torch.tensor(3.0))
        self.core = nn.Linear(features, features, bias=False)

    def encode(self, x):
        return (x - self.loc) / self.scale

    def decode(self, z):
        return z * self.scale + self.loc

    def forward(self, x):
        return self.decode(torch.arctan(self.core(self.encode(x))))


def get_inputs():
    return [torch.randn(1300, 256) * 3 + 1.25]


def get_init_inputs():
    return [256]
