import torch
import torch.nn as nn


def vtrap(x, y):
    """x / (exp(x / y) - 1), with its limit near zero."""
    r = x / y
    near = r.abs() < 1e-3
    safe = torch.where(near, torch.ones_like(r), r)
    return torch.where(near, y * (1 - r / 2), y * safe / torch.expm1(safe))


class Model(nn.Module):
    """One exponential-Euler step of the Hodgkin-Huxley gates and one Euler step of the voltage."""

    def __init__(self, dt):
        super().__init__()
        self.dt = dt

    def gate(self, g, a, b):
        s = a + b
        return a / s + (g - a / s) * torch.exp(-self.dt * s)

    def forward(self, v, m, h, n, current):
        m = self.gate(m, 0.1 * vtrap(-(v + 40.0), 10.0), 4.0 * torch.exp(-(v + 65.0) / 18.0))
        h = self.gate(h, 0.07 * torch.exp(-(v + 65.0) / 20.0), 1.0 / (1.0 + torch.exp(-(v + 35.0) / 10.0)))
        n = self.gate(n, 0.01 * vtrap(-(v + 55.0), 10.0), 0.125 * torch.exp(-(v + 65.0) / 80.0))
        ionic = 120.0 * m ** 3 * h * (v - 50.0) + 36.0 * n ** 4 * (v + 77.0) + 0.3 * (v + 54.4)
        return v + self.dt * (current - ionic), m, h, n


def get_inputs():
    c = 151_000
    return [torch.rand(c) * 90 - 75, torch.rand(c), torch.rand(c), torch.rand(c), torch.rand(c) * 10]


def get_init_inputs():
    return [0.01]
