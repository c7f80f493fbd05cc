import torch
import torch.nn as nn


class Model(nn.Module):
    """Gaussian bump of a linear map, weighted sum over units, divided by total bump mass."""

    def __init__(self, n_in, n_units, n_out, width):
        super().__init__()
        self.centre = nn.Linear(n_in, n_units)
        self.values = nn.Parameter(torch.randn(n_units, n_out))
        self.width = width

    def forward(self, x):
        bump = torch.exp(-0.5 * (self.centre(x) / self.width) ** 2)
        mass = bump.sum(dim=1, keepdim=True)
        return bump @ self.values / (mass + 1e-6)


def get_inputs():
    return [torch.randn(1024, 64)]


def get_init_inputs():
    return [64, 200, 96, 1.3]
