import torch
import torch.nn as nn


class Model(nn.Module):
    """Gram matrix, right-hand side and one Richardson step of ridge regression."""

    def __init__(self, lam, step):
        super().__init__()
        self.lam = lam
        self.step = step

    def forward(self, X, y, w):
        n = X.shape[0]
        gram = X.t() @ X / n
        rhs = X.t() @ y / n
        grad = gram @ w + self.lam * w - rhs
        return w - self.step * grad


def get_inputs():
    return [torch.randn(4096, 128), torch.randn(4096, 8), torch.randn(128, 8)]


def get_init_inputs():
    return [0.1, 0.05]
