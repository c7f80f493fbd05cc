import torch
import torch.nn as nn


class Model(nn.Module):
    """Triangle wave activation via floor, then a ReLU with a threshold and a weighted sum."""

    def __init__(self, n_in, n_out, period):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out)
        self.period = period
        self.weights = nn.Parameter(torch.ones(n_out) / n_out)

    def forward(self, x):
        u = self.lin(x) / self.period
        tri = 2 * torch.abs(2 * (u - torch.floor(u + 0.5))) - 1
        return (torch.relu(tri - 0.1) * self.weights).sum(dim=1)


def get_inputs():
    return [torch.randn(1000, 88)]


def get_init_inputs():
    return [88, 450, 2.0]
