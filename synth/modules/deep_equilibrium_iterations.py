import torch
import torch.nn as nn


class Model(nn.Module):
    """Fixed number of damped iterations z <- (1-b) z + b tanh(W z + U x)"""
    n_iter: int = 4
    beta = 0.6

    def __init__(self, dim_x, dim_z):
        super().__init__()
        self.U = nn.Linear(dim_x, dim_z)
        self.W = nn.Linear(dim_z, dim_z, bias=False)
        with torch.no_grad():
            self.W.weight.mul_(0.5)

    def forward(self, x):
        inject = self.U(x)
        z = torch.zeros_like(inject)
        for _ in range(self.n_iter):
            z = (1 - self.beta) * z + self.beta * torch.tanh(self.W(z) + inject)
        return z


def get_inputs():
    return [torch.randn(2300, 85)]


def get_init_inputs():
    return [85, 140]
