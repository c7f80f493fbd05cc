import math

import torch
import torch.nn as nn


class Model(nn.Module):
    """Denavit-Hartenberg matrices of one joint each, multiplied along the arm."""

    def __init__(self, a, alpha, d):
        super().__init__()
        self.a = a
        self.d = d
        self.alpha = alpha

    def link(self, theta, a, alpha, d):
        ca, sa = math.cos(alpha), math.sin(alpha)
        c, s = theta.cos(), theta.sin()
        zero, one = torch.zeros_like(c), torch.ones_like(c)
        rows = [
            torch.stack((c, -s * ca, s * sa, a * c), -1),
            torch.stack((s, c * ca, -c * sa, a * s), -1),
            torch.stack((zero, zero + sa, zero + ca, zero + d), -1),
            torch.stack((zero, zero, zero, one), -1),
        ]
        return torch.stack(rows, -2)

    def forward(self, theta):
        t = self.link(theta[:, 0], self.a[0], self.alpha[0], self.d[0])
        t = t @ self.link(theta[:, 1], self.a[1], self.alpha[1], self.d[1])
        return t[:, :3, 3], t


def get_inputs():
    return [torch.randn(60000, 2)]


def get_init_inputs():
    return [[0.3, 0.25], [1.5707963, -0.4], [0.1, 0.0]]
