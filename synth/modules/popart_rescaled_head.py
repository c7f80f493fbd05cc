import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_in: int, n_tasks: int):
        super().__init__()
        self.linear = nn.Linear(n_in, n_tasks)
        self.register_buffer("mu", torch.zeros(n_tasks))
        self.register_buffer("nu", torch.ones(n_tasks) * 2)

    @property
    def sigma(self):
        return torch.sqrt(self.nu - self.mu ** 2).clamp(1e-4, 1e6)

    def forward(self, features, returns):
        normalised = self.linear(features)
        value = normalised * self.sigma + self.mu
        target = (returns - self.mu) / self.sigma
        return value, 0.5 * (normalised - target) ** 2


def get_inputs():
    return [torch.randn(3000, 256), torch.randn(3000, 30)]


def get_init_inputs():
    return [256, 30]
