import torch
import torch.nn as nn


class Model(nn.Module):
    """Focal modulation, channels last outside: two depthwise levels and a global one, gated and summed."""

    def __init__(self, dim):
        super().__init__()
        self.f = nn.Linear(dim, 2 * dim + 3)
        self.dw1 = nn.Conv2d(dim, dim, 3, padding=1, groups=dim, bias=False)
        self.dw2 = nn.Conv2d(dim, dim, 5, padding=2, groups=dim, bias=False)
        self.h = nn.Conv2d(dim, dim, 1)
        self.act = nn.GELU()
        self.dim = dim

    def forward(self, x):
        x = self.f(x).permute(0, 3, 1, 2)
        q, ctx, gates = torch.split(x, (self.dim, self.dim, 3), 1)
        c1 = self.act(self.dw1(ctx))
        c2 = self.act(self.dw2(c1))
        c3 = self.act(c2.mean((2, 3), keepdim=True))
        total = c1 * gates[:, 0:1] + c2 * gates[:, 1:2] + c3 * gates[:, 2:]
        return (q * self.h(total)).permute(0, 2, 3, 1)


def get_inputs():
    return [torch.randn(4, 28, 28, 64)]


def get_init_inputs():
    return [64]
