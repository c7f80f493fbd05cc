import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """N-HiTS: max pooled input, MLP to few knots, linear interpolation to the horizon."""

    def __init__(self, lookback, horizon, pool, knots, width):
        super().__init__()
        self.horizon, self.knots, self.pool = horizon, knots, pool
        self.layers = nn.Sequential(
            nn.Linear(lookback // pool, width), nn.ReLU(),
            nn.Linear(width, lookback + knots),
        )
        self.lookback = lookback

    def forward(self, insample_y):
        pooled = F.max_pool1d(insample_y.unsqueeze(1), kernel_size=self.pool, stride=self.pool).squeeze(1)
        theta = self.layers(pooled)
        backcast = theta[:, : self.lookback]
        knots = theta[:, self.lookback :]
        forecast = F.interpolate(knots[:, None, :], size=self.horizon, mode="linear")
        return insample_y - backcast, forecast[:, 0]


def get_inputs():
    return [torch.randn(2000, 192)]


def get_init_inputs():
    return [192, 48, 4, 12, 256]
