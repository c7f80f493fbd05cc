import torch
import torch.nn as nn

KNOTS, POINTS = 64, 50_000


class Model(nn.Module):
    """Natural cubic spline through fixed knots: coefficients by a dense solve, evaluation by Horner."""

    def __init__(self, knots):
        super().__init__()
        h = 1.0 / (knots - 1)
        a = torch.zeros(knots, knots, dtype=torch.double)
        a[0, 0] = a[-1, -1] = 1.0
        i = torch.arange(1, knots - 1)
        a[i, i - 1], a[i, i], a[i, i + 1] = h / 6, 2 * h / 3, h / 6
        self.h, self.n = h, knots
        self.register_buffer("inverse", torch.linalg.inv(a))

    def coefficients(self, y):
        rhs = torch.zeros_like(y)
        rhs[1:-1] = (y[2:] - 2 * y[1:-1] + y[:-2]) / self.h
        m = self.inverse @ rhs
        c0 = y[:-1]
        c1 = (y[1:] - y[:-1]) / self.h - self.h * (2 * m[:-1] + m[1:]) / 6
        c2, c3 = m[:-1] / 2, (m[1:] - m[:-1]) / (6 * self.h)
        return torch.stack([c0, c1, c2, c3])

    def forward(self, y, x):
        c = self.coefficients(y)
        k = (x / self.h).long().clamp(0, self.n - 2)
        t = x - k * self.h
        value, slope = torch.zeros_like(x), torch.zeros_like(x)
        for row in reversed(range(4)):
            slope = slope * t + value
            value = value * t + c[row][k]
        return value, slope


def get_inputs():
    return [torch.randn(KNOTS, dtype=torch.double), torch.rand(POINTS, dtype=torch.double)]


def get_init_inputs():
    return [KNOTS]
