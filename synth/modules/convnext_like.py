from functools import partial

import torch
import torch.nn as nn


class Model(nn.Module):
    """Depthwise 7x7, layer norm over channels, two pointwise layers, a scale, and the shortcut."""

    def __init__(self, dim: int, mult: int = 4, layer_scale_init: float = 1e-6,
                 norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = norm_layer(dim)
        self.pwconv1 = nn.Linear(dim, mult * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(mult * dim, dim)
        self.gamma = nn.Parameter(layer_scale_init * torch.ones(dim)) if layer_scale_init > 0 else None

    def forward(self, x):
        shortcut = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)  # (N, C, H, W) -> (N, H, W, C)
        x = self.norm(x)
        x = self.pwconv2(self.act(self.pwconv1(x)))
        if self.gamma is not None:
            x = self.gamma * x
        x = x.permute(0, 3, 1, 2)
        return shortcut + x


def get_inputs():
    return [torch.randn(4, 96, 28, 28)]


def get_init_inputs():
    return [96, 4, 0.1]
