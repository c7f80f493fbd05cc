import torch
from torch import nn
from typing import List


def mlp(widths: List[int]) -> nn.Sequential:
    steps = []
    for a, b in zip(widths[:-2], widths[1:-1]):
        steps += [nn.Linear(a, b), nn.LeakyReLU(0.1)]
    steps.append(nn.Linear(widths[-2], widths[-1]))
    return nn.Sequential(*steps)


class Model(nn.Module):
    """An MLP whose layers get narrower and narrower; the widths come as a list."""

    def __init__(self, widths: List[int]):
        super().__init__()
        self.body = mlp(widths)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.body(features)


def get_inputs():
    return [torch.rand(1000, 784)]


def get_init_inputs():
    return [[784, 512, 128, 32, 10]]
