import torch
import torch.nn as nn


class Model(nn.Module):
    """What part of its column's total magnitude an entry is."""

    def __init__(self):
        super().__init__()

    def forward(self, table: torch.Tensor, epsilon: float) -> torch.Tensor:
        total = table.abs().sum(0, keepdim=True)
        return table.div(total + epsilon)


def get_inputs():
    return [torch.randn(620, 1750), 1e-5]


def get_init_inputs():
    return []
