import torch
import torch.nn as nn


def cos_table(n):
    i = torch.arange(n, dtype=torch.float32)
    return torch.cos(torch.pi / n * (i[None] + 0.5) * i[:, None]) * (2.0 / n) ** 0.5


class Model(nn.Module):
    """Token mixing by fixed cosine transforms over time and channels, then a feed-forward part."""

    def __init__(self, seq, dim, ff, layers):
        super().__init__()
        self.register_buffer("ct", cos_table(seq))
        self.register_buffer("cd", cos_table(dim))
        self.ff = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, ff), nn.ReLU(), nn.Linear(ff, dim)) for _ in range(layers)
        )

    def mix(self, x):
        return self.ct @ x @ self.cd.T

    def forward(self, x):
        for ff in self.ff:
            x = x + self.mix(x)
            x = x + ff(x)
        return x


def get_inputs():
    return [torch.randn(12, 130, 110)]


def get_init_inputs():
    return [130, 110, 300, 2]
