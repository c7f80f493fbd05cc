import torch
import torch.nn as nn


class Model(nn.Module):
    """Rational activation P(x) / (1 + |Q(x)|), learned coefficients."""

    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.tensor([0.02, 0.5, 1.5, 0.9]))
        self.q = nn.Parameter(torch.tensor([0.1, 0.8]))

    def forward(self, x):
        num = self.p[0] + x * (self.p[1] + x * (self.p[2] + x * self.p[3]))
        den = 1 + (x * (self.q[0] + x * self.q[1])).abs()
        return num / den


def get_inputs():
    return [torch.randn(800, 2000)]


def get_init_inputs():
    return []
