import torch
import torch.nn as nn


class Model(nn.Module):
    """Outer sum and outer difference of two vectors."""

    def forward(self, u, v):
        return u[:, None] + v[None, :], u[:, None] - v[None, :]


def get_inputs():
    return [torch.randn(1300), torch.randn(1100)]


def get_init_inputs():
    return []
