import torch
import torch.nn as nn


class Model(nn.Module):
    """Generic N-BEATS block; gives the backcast residual and the forecast."""

    def __init__(self, backcast, forecast, units, theta_dim, n_layers=3):
        super().__init__()
        widths = [backcast] + [units] * n_layers
        self.fc = nn.ModuleList([nn.Linear(i, o) for i, o in zip(widths, widths[1:])])
        self.theta = nn.Linear(units, theta_dim, bias=False)
        t = torch.linspace(0, 1, backcast + forecast)
        powers = torch.stack([t ** p for p in range(theta_dim)])
        self.register_buffer("basis", powers)
        self.split = backcast

    def forward(self, x):
        h = x
        for layer in self.fc:
            h = layer(h).relu()
        series = self.theta(h) @ self.basis
        return x - series[:, : self.split], series[:, self.split :]


def get_init_inputs():
    return [84, 28, 200, 4]


def get_inputs():
    return [torch.randn(5000, 84)]
