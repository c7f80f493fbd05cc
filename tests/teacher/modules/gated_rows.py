import torch
from torch import nn


class Model(nn.Module):
    """A gate from one half of the features onto the other, then a norm written out."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.proj = nn.Linear(width, 2 * width)
        self.gain = nn.Parameter(torch.rand(width))
        self.eps = eps

    def forward(self, x):
        a, b = self.proj(x).chunk(2, dim=-1)
        y = a * torch.sigmoid(b)
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return y * self.gain


def get_inputs():
    return [torch.randn(36, 24)]


def get_init_inputs():
    return [24]
