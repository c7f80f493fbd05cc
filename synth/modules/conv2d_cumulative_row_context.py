import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv2d, running sum along the height scaled by the row count, SiLU, 1x1 conv back."""

    def __init__(self, ci, cm):
        super().__init__()
        self.inp = nn.Conv2d(ci, cm, 3, padding=1)
        self.out = nn.Conv2d(cm, ci, 1)

    def forward(self, x):
        y = self.inp(x)
        rows = torch.arange(1, y.shape[2] + 1, device=x.device).reshape(1, 1, -1, 1)
        ctx = y.cumsum(2) / rows
        return self.out(nn.functional.silu(ctx))


def get_inputs():
    return [torch.randn(6, 10, 48, 48)]


def get_init_inputs():
    return [10, 24]
