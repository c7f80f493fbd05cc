import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, dim, n_heads, ff_mult):
        super().__init__()
        self.h = n_heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q = nn.Linear(dim, dim); self.k = nn.Linear(dim, dim); self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, dim * ff_mult), nn.GELU(), nn.Linear(dim * ff_mult, dim))

    def _split(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x):
        y = self.norm1(x)
        a = F.scaled_dot_product_attention(self._split(self.q(y)), self._split(self.k(y)), self._split(self.v(y)))
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.ff(self.norm2(x))


def get_inputs():
    return [torch.randn(8, 77, 160)]


def get_init_inputs():
    return [160, 5, 3]
