import torch
import torch.nn as nn


class Model(nn.Module):
    """Euler steps of a repressilator: Hill repression in a ring of three genes, mRNA and protein."""

    def __init__(self, n, alpha, alpha0, beta, dt, steps):
        super().__init__()
        self.n, self.alpha, self.alpha0 = n, alpha, alpha0
        self.beta, self.dt, self.steps = beta, dt, steps

    def hill(self, p):
        return self.alpha / (1.0 + p.clamp(min=0.0) ** self.n) + self.alpha0

    def forward(self, m, p):
        for _ in range(self.steps):
            dm = self.hill(p.roll(1, dims=-1)) - m
            dp = self.beta * (m - p)
            m, p = m + self.dt * dm, p + self.dt * dp
        return m, p


def get_inputs():
    return [torch.rand(150000, 3), torch.rand(150000, 3)]


def get_init_inputs():
    return [2.0, 8.0, 0.1, 1.5, 0.02, 3]
