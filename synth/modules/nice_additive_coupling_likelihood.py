import torch
import torch.nn as nn
import math


class Model(nn.Module):
    """Two additive couplings, a diagonal scaling and the log likelihood under a standard normal."""

    def __init__(self, half, hidden):
        super().__init__()
        self.m1 = nn.Sequential(nn.Linear(half, hidden), nn.ReLU(), nn.Linear(hidden, half))
        self.m2 = nn.Sequential(nn.Linear(half, hidden), nn.ReLU(), nn.Linear(hidden, half))
        self.log_diag = nn.Parameter(torch.zeros(2 * half))

    def forward(self, x):
        a, b = x[:, ::2], x[:, 1::2]
        b = b + self.m1(a)
        a = a + self.m2(b)
        z = torch.cat([a, b], 1) * torch.exp(self.log_diag)
        ll = -0.5 * (z.pow(2) + math.log(2 * math.pi)).sum(1)
        return ll + self.log_diag.sum()


def get_inputs():
    return [torch.rand(1500, 196)]


def get_init_inputs():
    return [98, 200]
