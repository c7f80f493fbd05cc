import torch
import torch.nn as nn


class Model(nn.Module):
    """Right-hand side of the normal equations, X^T y for many targets at once."""

    def __init__(self):
        super(Model, self).__init__()

    def forward(self, design: torch.Tensor, response: torch.Tensor) -> torch.Tensor:
        return design.mT @ response / design.shape[0]


def get_inputs():
    return [torch.randn(900, 520), torch.randn(900, 660)]


def get_init_inputs():
    return []
