import torch
import torch.nn as nn


class Model(nn.Module):
    """Heeger's model: squared rectified responses divided by a pooled, learned neighbourhood."""

    def __init__(self, neurons, n=2.0):
        super().__init__()
        self.pool_weights = nn.Parameter(torch.rand(neurons, neurons) / neurons)
        self.sigma = nn.Parameter(torch.ones(neurons) * 0.5)
        self.n = n

    def forward(self, drive):
        energy = drive.clamp(min=0).pow(self.n)
        pooled = energy @ self.pool_weights
        return energy / (self.sigma.pow(self.n) + pooled)


def get_inputs():
    return [torch.randn(2000, 300)]


def get_init_inputs():
    return [300]
