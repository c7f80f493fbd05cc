import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, units, thetas, backcast_length, forecast_length):
        super().__init__()
        self.fc1 = nn.Linear(backcast_length, units)
        self.fc2 = nn.Linear(units, units)
        self.theta = nn.Linear(units, 2 * thetas, bias=False)
        self.backcast_fc = nn.Linear(thetas, backcast_length)
        self.forecast_fc = nn.Linear(thetas, forecast_length)

    def forward(self, x):
        h = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        theta_b, theta_f = self.theta(h).chunk(2, -1)
        return self.backcast_fc(theta_b), self.forecast_fc(theta_f)


class Model(nn.Module):
    def __init__(self, n_blocks, units, thetas, backcast_length, forecast_length):
        super().__init__()
        self.stack = nn.ModuleList(
            [Block(units, thetas, backcast_length, forecast_length) for _ in range(n_blocks)]
        )

    def forward(self, backcast):
        forecast = 0.0
        for block in self.stack:
            b, f = block(backcast)
            backcast = backcast - b
            forecast = forecast + f
        return backcast, forecast


def get_inputs():
    return [torch.randn(1024, 120)]


def get_init_inputs():
    return [2, 256, 16, 120, 24]
