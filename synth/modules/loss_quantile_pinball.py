import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, tau: float):
        super().__init__()
        self.tau = tau

    def forward(self, forecast, actual):
        diff = actual - forecast
        return torch.maximum(self.tau * diff, (self.tau - 1.0) * diff).mean()


def get_inputs():
    return [torch.randn(2000, 720), torch.randn(2000, 720)]


def get_init_inputs():
    return [0.9]
