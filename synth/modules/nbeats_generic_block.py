import torch
import torch.nn as nn
import torch.nn.functional as F


class NBeatsBlock(nn.Module):
    def __init__(self, backcast, forecast, units, theta):
        super().__init__()
        self.fc1 = nn.Linear(backcast, units)
        self.fc2 = nn.Linear(units, units)
        self.theta_b = nn.Linear(units, theta, bias=False)
        self.theta_f = nn.Linear(units, theta, bias=False)
        self.backcast_fc = nn.Linear(theta, backcast)
        self.forecast_fc = nn.Linear(theta, forecast)

    def forward(self, x):
        x = F.relu(self.fc2(F.relu(self.fc1(x))))
        return self.backcast_fc(self.theta_b(x)), self.forecast_fc(self.theta_f(x))


class Model(nn.Module):
    """One N-BEATS block with its doubly residual outputs."""

    def __init__(self, backcast, forecast, units, theta):
        super().__init__()
        self.block = NBeatsBlock(backcast, forecast, units, theta)

    def forward(self, series, partial_forecast):
        b, f = self.block(series)
        return series - b, partial_forecast + f


def get_inputs():
    return [torch.randn(2048, 100), torch.zeros(2048, 24)]


def get_init_inputs():
    return [100, 24, 128, 16]
