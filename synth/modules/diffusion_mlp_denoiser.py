import math

import torch
import torch.nn as nn


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half, device=t.device) * -(math.log(10000) / (half - 1)))
        args = t[:, None].float() * freqs[None, :]
        return torch.cat([args.sin(), args.cos()], dim=-1)


class Model(nn.Module):
    def __init__(self, action_dim, state_dim, hidden, t_dim=16):
        super().__init__()
        self.time_mlp = nn.Sequential(
            SinusoidalPosEmb(t_dim), nn.Linear(t_dim, t_dim * 2), nn.Mish(), nn.Linear(t_dim * 2, t_dim)
        )
        self.mid = nn.Sequential(
            nn.Linear(action_dim + state_dim + t_dim, hidden), nn.Mish(),
            nn.Linear(hidden, hidden), nn.Mish(),
            nn.Linear(hidden, action_dim),
        )

    def forward(self, x, time, state):
        t = self.time_mlp(time)
        return self.mid(torch.cat([x, t, state], dim=1))


def get_inputs():
    n = 3000
    return [torch.randn(n, 14), torch.randint(0, 100, (n,)), torch.randn(n, 39)]


def get_init_inputs():
    return [14, 39, 200, 16]
