from functools import partial

import torch
from torch import nn

pair = lambda x: x if isinstance(x, tuple) else (x, x)


class PreNormResidual(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.fn(self.norm(x)) + x


def FeedForward(dim, expansion, dense=nn.Linear):
    inner_dim = int(dim * expansion)
    return nn.Sequential(dense(dim, inner_dim), nn.GELU(), dense(inner_dim, dim))


class Model(nn.Module):
    def __init__(self, dim, n_tokens, depth):
        super().__init__()
        chan_first = partial(nn.Conv1d, kernel_size=1)
        self.layers = nn.Sequential(*[
            nn.Sequential(
                PreNormResidual(dim, FeedForward(n_tokens, 2, chan_first)),
                PreNormResidual(dim, FeedForward(dim, 0.5, nn.Linear)),
            )
            for _ in range(depth)
        ])

    def forward(self, tokens):
        return self.layers(tokens).mean(dim=1)


def get_inputs():
    return [torch.randn(14, 100, 168)]


def get_init_inputs():
    return [168, 100, 2]
