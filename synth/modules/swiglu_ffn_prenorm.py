from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    width: int = 320
    hidden: int = 864
    eps: float = 1e-5


class RMSNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.g = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.g


class Model(nn.Module):
    def __init__(self, width=None):
        super().__init__()
        cfg = Config() if width is None else Config(width=width)
        self.norm = RMSNorm(cfg.width, cfg.eps)
        self.w1 = nn.Linear(cfg.width, cfg.hidden, bias=False)
        self.w2 = nn.Linear(cfg.hidden, cfg.width, bias=False)
        self.w3 = nn.Linear(cfg.width, cfg.hidden, bias=False)

    def forward(self, x):
        h = self.norm(x)
        h = nn.functional.silu(self.w1(h)) * self.w3(h)
        return x + self.w2(h)


def get_inputs():
    return [torch.randn(3, 500, Config.width)]


def get_init_inputs():
    return []
