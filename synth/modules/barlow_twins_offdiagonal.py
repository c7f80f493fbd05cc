import torch
import torch.nn as nn


def off_diagonal(x):
    n, m = x.shape
    assert n == m
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class Model(nn.Module):
    def __init__(self, lambd, eps=1e-5):
        super().__init__()
        self.lambd = lambd
        self.eps = eps

    def bn(self, z):
        return (z - z.mean(0)) / torch.sqrt(z.var(0, unbiased=False) + self.eps)

    def forward(self, z1, z2):
        c = self.bn(z1).T @ self.bn(z2)
        c = c.div(z1.size(0))
        on_diag = (torch.diagonal(c) - 1).pow(2).sum()
        off_diag = off_diagonal(c).pow(2).sum()
        return on_diag + self.lambd * off_diag


def get_inputs():
    return [torch.randn(512, 700), torch.randn(512, 700)]


def get_init_inputs():
    return [0.0051]
