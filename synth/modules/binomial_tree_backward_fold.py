import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Four backward steps of an American put on a Cox-Ross-Rubinstein tree."""

    def __init__(self, sigma, rate, dt, strike):
        super().__init__()
        self.up = math.exp(sigma * math.sqrt(dt))
        down = 1 / self.up
        self.disc = math.exp(-rate * dt)
        self.p = (math.exp(rate * dt) - down) / (self.up - down)
        self.strike = strike

    def forward(self, leaf_prices):
        s = leaf_prices
        value = torch.relu(self.strike - s)
        for _ in range(4):
            s = s[:, :-1] * self.up
            hold = self.disc * (self.p * value[:, 1:] + (1 - self.p) * value[:, :-1])
            value = torch.maximum(hold, self.strike - s)
        return value


def get_inputs():
    return [torch.rand(500, 1000) * 60 + 70]


def get_init_inputs():
    return [0.25, 0.02, 1 / 52, 100.0]
