import torch
import torch.nn as nn


class Model(nn.Module):
    """Two convolutions of the same input; the product of their clamped responses."""

    def __init__(self, in_channels, out_channels, lo, hi):
        super().__init__()
        self.left = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.right = nn.Conv2d(in_channels, out_channels, 1)
        self.lo = lo
        self.hi = hi

    def forward(self, x):
        a = torch.clamp(self.left(x), min=self.lo, max=self.hi)
        b = torch.clamp(self.right(x), min=0.0)
        return a * b + 0.1 * x.mean(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(8, 14, 54, 54)]


def get_init_inputs():
    return [14, 28, -0.75, 1.25]
