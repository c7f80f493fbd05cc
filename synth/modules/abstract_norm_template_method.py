from abc import ABC, abstractmethod
import torch
import torch.nn as nn


class Normaliser(nn.Module, ABC):
    def forward(self, x):
        centre, spread = self.measure(x)
        return (x - centre) / spread

    @abstractmethod
    def measure(self, x):
        ...


class Model(Normaliser):
    """Robust scaling: median of each row and mean absolute deviation from it."""

    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def measure(self, x):
        centre = x.median(dim=-1, keepdim=True).values
        spread = (x - centre).abs().mean(dim=-1, keepdim=True) + self.eps
        return centre, spread


def get_inputs():
    return [torch.randn(3000, 201)]


def get_init_inputs():
    return [1e-4]
