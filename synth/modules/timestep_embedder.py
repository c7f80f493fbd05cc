import math
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, freq_dim, hidden, channels, max_period=10000):
        super().__init__()
        half = freq_dim // 2
        freqs = torch.exp(-math.log(max_period) * torch.arange(half).float() / half)
        self.register_buffer("freqs", freqs, persistent=False)
        self.mlp = nn.Sequential(nn.Linear(freq_dim, hidden), nn.SiLU(), nn.Linear(hidden, channels))

    def forward(self, h, t):
        args = t[:, None].float() * self.freqs[None]
        emb = torch.cat([torch.cos(args), torch.sin(args)], dim=-1)
        emb = self.mlp(emb)
        return h + emb[:, :, None, None]


def get_inputs():
    return [torch.randn(10, 70, 48, 40), torch.rand(10) * 1000]


def get_init_inputs():
    return [128, 300, 70]
