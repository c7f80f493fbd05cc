import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Learned ISTA: sparse codes by three unrolled soft-threshold steps."""

    def __init__(self, n, m, theta):
        super().__init__()
        self.We = nn.Linear(n, m, bias=False)
        self.S = nn.Linear(m, m, bias=False)
        self.theta = nn.Parameter(torch.full((m,), theta))

    def shrink(self, v):
        return torch.sign(v) * F.relu(v.abs() - self.theta)

    def forward(self, y):
        b = self.We(y)
        z = self.shrink(b)
        for _ in range(2):
            z = self.shrink(b + self.S(z))
        return z


def get_inputs():
    return [torch.randn(1500, 100)]


def get_init_inputs():
    return [100, 400, 0.05]
