import torch
import torch.nn as nn


class Model(nn.Module):
    """trace(A @ B) without forming the product"""

    def forward(self, A, B):
        return torch.sum(A * B.t())


def get_inputs():
    return [torch.randn(1500, 1100), torch.randn(1100, 1500)]


def get_init_inputs():
    return []
