import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Model(nn.Module):
    """One imagination step of a latent dynamics model; the Gaussian noise is an argument."""

    def __init__(self, stoch: int, deter: int, act: int, min_std: float = 0.1):
        super().__init__()
        self.min_std = min_std
        self.inp = nn.Linear(stoch + act, deter)
        self.gates = nn.Linear(2 * deter, 3 * deter)
        self.stats = nn.Linear(deter, 2 * stoch)

    def forward(self, s: Tensor, h: Tensor, a: Tensor, noise: Tensor):
        x = F.elu(self.inp(torch.cat([s, a], -1)))
        reset, cand, update = torch.chunk(self.gates(torch.cat([x, h], -1)), 3, -1)
        cand = torch.tanh(torch.sigmoid(reset) * cand)
        update = torch.sigmoid(update - 1)
        h = update * cand + (1 - update) * h
        mean, std = self.stats(h).chunk(2, -1)
        std = F.softplus(std) + self.min_std
        return dict(stoch=mean + std * noise, deter=h, mean=mean, std=std)


def get_inputs():
    n = 1000
    return [torch.randn(n, 30), torch.randn(n, 200), torch.randn(n, 6), torch.randn(n, 30)]


def get_init_inputs():
    return [30, 200, 6]
