import torch
import torch.nn as nn


class Model(nn.Module):
    """Quintic Newton-Schulz orthogonalisation of a momentum matrix, two rounds."""

    def __init__(self, rounds=2):
        super().__init__()
        self.rounds = rounds
        self.abc = (3.4445, -4.7750, 2.0315)

    def forward(self, G):
        a, b, c = self.abc
        X = G / (G.norm(dim=(-2, -1), keepdim=True) + 1e-7)
        for _ in range(self.rounds):
            A = X @ X.mT
            B = b * A + c * (A @ A)
            X = a * X + B @ X
        return X


def get_inputs():
    return [torch.randn(4, 160, 256)]


def get_init_inputs():
    return []
