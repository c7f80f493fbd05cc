import torch
from torch import nn


class Model(nn.Module):
    """Volume convolution followed by a learned scale, arctangent, a second learned factor and a logistic."""

    def __init__(self, ci: int, co: int, k: int):
        super().__init__()
        self.c = nn.Conv3d(ci, co, k)
        self.alpha = nn.Parameter(1 + 0.2 * torch.randn(1, co, 1, 1, 1))
        self.beta = nn.Parameter(1 + 0.2 * torch.randn(1, co, 1, 1, 1))

    def forward(self, vol: torch.Tensor) -> torch.Tensor:
        return (torch.atan(self.c(vol) * self.alpha) * self.beta).sigmoid()


def get_inputs():
    return [torch.randn(3, 4, 14, 30, 34)]


def get_init_inputs():
    return [4, 14, 3]
