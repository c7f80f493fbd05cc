import torch
import torch.nn as nn


class Model(nn.Module):
    """Muon's quintic Newton-Schulz iteration on a gradient matrix."""

    coefficients = (3.4445, -4.7750, 2.0315)

    def __init__(self, steps=3):
        super().__init__()
        self.steps = steps

    def forward(self, G):
        a, b, c = self.coefficients
        X = G / (G.norm() + 1e-7)
        for _ in range(self.steps):
            A = X @ X.T
            B = b * A + c * A @ A
            X = a * X + B @ X
        return X * max(1, G.size(-2) / G.size(-1)) ** 0.5


def get_inputs():
    return [torch.randn(384, 640)]


def get_init_inputs():
    return []
