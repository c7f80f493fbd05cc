import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """log cosh of centred projections, summed per row: log cosh z = |z| + softplus(-2|z|) - log 2."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.proj = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x):
        z = self.proj(x)
        z = z - z.mean(dim=1, keepdim=True)
        a = z.abs()
        return (a + nn.functional.softplus(-2 * a) - math.log(2.0)).sum(dim=1)


def get_inputs():
    return [torch.randn(800, 300)]


def get_init_inputs():
    return [300, 400]
