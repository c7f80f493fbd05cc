import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim=96, init_value=1e-2, *, keep_prob=1.0):
        super().__init__()
        self.spatial = nn.Conv1d(dim, dim, 5, padding=2, groups=dim)
        self.channel = nn.Linear(dim, dim)
        self.gamma_1 = nn.Parameter(init_value * torch.ones(dim))
        self.gamma_2 = nn.Parameter(init_value * torch.ones(dim))
        self.keep_prob = keep_prob

    def forward(self, x):
        # x: (N, L, C)
        y = self.spatial(x.transpose(1, 2)).transpose(1, 2)
        x = x + self.gamma_1 * y * self.keep_prob
        x = x + self.gamma_2 * nn.functional.gelu(self.channel(x)) * self.keep_prob
        return x


def get_inputs():
    return [torch.randn(8, 300, 96)]


def get_init_inputs():
    return []
