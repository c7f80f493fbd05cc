import torch
import torch.nn as nn


class Expert(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.a = nn.Linear(d, h)
        self.b = nn.Linear(h, d)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


class Model(nn.Module):
    """Mixture of experts with dense softmax gates."""

    def __init__(self, d, h, n):
        super().__init__()
        self.experts = nn.ModuleList(Expert(d, h) for _ in range(n))
        self.gate = nn.Linear(d, n)

    def forward(self, x):
        g = self.gate(x).softmax(-1)
        out = 0
        for i, expert in enumerate(self.experts):
            out = out + g[..., i : i + 1] * expert(x)
        return out


def get_inputs():
    return [torch.randn(1500, 210)]


def get_init_inputs():
    return [210, 330, 3]
