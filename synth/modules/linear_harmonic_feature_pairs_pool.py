import torch
import torch.nn as nn


class Model(nn.Module):
    """Complex-like modulus of adjacent outputs: sqrt(a^2 + b^2), bias, ReLU (modReLU magnitude)."""

    def __init__(self, n_in, n_complex):
        super().__init__()
        self.lin = nn.Linear(n_in, 2 * n_complex, bias=False)
        self.b = nn.Parameter(torch.full((n_complex,), -0.1))

    def forward(self, x):
        z = self.lin(x).reshape(x.shape[0], -1, 2)
        mag = (z[..., 0] ** 2 + z[..., 1] ** 2 + 1e-9).sqrt()
        scale = torch.relu(mag + self.b) / mag
        return (z * scale[..., None]).flatten(1)


def get_inputs():
    return [torch.randn(640, 210)]


def get_init_inputs():
    return [210, 260]
