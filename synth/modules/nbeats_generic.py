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
        self.back = nn.Linear(theta, backcast)
        self.fore = nn.Linear(theta, forecast)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.back(self.theta_b(x)), self.fore(self.theta_f(x))


class Model(nn.Module):
    def __init__(self, backcast, forecast, units, theta, n_blocks):
        super().__init__()
        self.blocks = nn.ModuleList(NBeatsBlock(backcast, forecast, units, theta) for _ in range(n_blocks))

    def forward(self, y):
        forecast = 0.0
        for blk in self.blocks:
            b, f = blk(y)
            y = y - b
            forecast = forecast + f
        return forecast


def get_inputs():
    return [torch.randn(1024, 90)]


def get_init_inputs():
    return [90, 18, 160, 12, 3]
