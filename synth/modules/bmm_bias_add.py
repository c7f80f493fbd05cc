import torch
import torch.nn as nn


class Model(nn.Module):
    """Batched product with a bias for every batch element."""

    def __init__(self, batch: int, cols: int):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(batch, 1, cols))

    def forward(self, left, right):
        return torch.bmm(left, right) + self.bias


def get_inputs():
    return [torch.randn(26, 120, 150), torch.randn(26, 150, 135)]


def get_init_inputs():
    return [26, 135]
