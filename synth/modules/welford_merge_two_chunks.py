import torch
import torch.nn as nn
from dataclasses import dataclass


@dataclass
class Moments:
    count: int
    mean: torch.Tensor
    m2: torch.Tensor

    @classmethod
    def of(cls, x):
        mean = x.mean(dim=0)
        return cls(x.shape[0], mean, ((x - mean) ** 2).sum(dim=0))

    def merge(self, other):
        n = self.count + other.count
        delta = other.mean - self.mean
        mean = self.mean + delta * other.count / n
        m2 = self.m2 + other.m2 + delta ** 2 * (self.count * other.count / n)
        return Moments(n, mean, m2)


class Model(nn.Module):
    """Chan's parallel variance: moments of two chunks of unequal length, merged."""

    def __init__(self):
        super().__init__()

    def forward(self, first, second):
        both = Moments.of(first).merge(Moments.of(second))
        return both.mean, both.m2 / (both.count - 1)


def get_inputs():
    return [torch.randn(1500, 512), torch.randn(2100, 512)]


def get_init_inputs():
    return []
