import torch
import torch.nn as nn


class Model(nn.Module):
    """Sweeps of Jacobi's method for Poisson's equation, with the residual's norm."""

    def __init__(self, sweeps: int, h: float):
        super().__init__()
        self.sweeps = sweeps
        self.h2 = h ** 2

    def forward(self, p, rhs):
        for _ in range(self.sweeps):
            q = nn.functional.pad(p, (1, 1, 1, 1), value=0.0)
            p = 0.25 * (q[:, 2:, 1:-1] + q[:, :-2, 1:-1] + q[:, 1:-1, 2:] + q[:, 1:-1, :-2] - self.h2 * rhs)
        return p


def get_inputs():
    return [torch.zeros(4, 350, 350), torch.randn(4, 350, 350)]


def get_init_inputs():
    return [2, 0.1]
