import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Mixed pooling of a convolution: lam * max + (1 - lam) * avg, then SiLU."""

    def __init__(self, in_channels, out_channels, kernel_size, pool, lam=0.5):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.pool = pool
        self.lam = nn.Parameter(torch.tensor([lam]))

    def forward(self, x):
        x = self.conv(x)
        mixed = self.lam * F.max_pool2d(x, self.pool) + (1 - self.lam) * F.avg_pool2d(x, self.pool)
        return F.silu(mixed)


def get_inputs():
    return [torch.randn(10, 6, 58, 58)]


def get_init_inputs():
    return [6, 26, 3, 2, 0.3]
