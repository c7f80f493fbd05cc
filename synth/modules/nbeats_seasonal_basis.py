import math
import torch
import torch.nn as nn


def season_basis(n, harmonics):
    t = torch.arange(n, dtype=torch.float32) / n
    rows = [torch.ones(n)]
    for k in range(1, harmonics + 1):
        rows.append(torch.cos(2 * math.pi * k * t))
        rows.append(torch.sin(2 * math.pi * k * t))
    return torch.stack(rows)


def trend_basis(n, degree):
    t = torch.linspace(0, 1, n)
    return torch.stack([t ** p for p in range(degree + 1)])


class Model(nn.Module):
    """Forecast = polynomial trend + Fourier season, coefficients by an MLP."""

    def __init__(self, lookback, horizon, hidden, degree, harmonics):
        super().__init__()
        self.register_buffer("season", season_basis(horizon, harmonics))
        self.register_buffer("trend", trend_basis(horizon, degree))
        self.n_trend = degree + 1
        self.body = nn.Sequential(nn.Linear(lookback, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.coef = nn.Linear(hidden, degree + 1 + 2 * harmonics + 1)

    def forward(self, x):
        scale = x.abs().mean(dim=1, keepdim=True) + 1e-5
        theta = self.coef(self.body(x / scale))
        ft = theta[:, : self.n_trend] @ self.trend
        fs = theta[:, self.n_trend :] @ self.season
        return (ft + fs) * scale


def get_inputs():
    return [torch.randn(1500, 168)]


def get_init_inputs():
    return [168, 48, 220, 3, 8]
