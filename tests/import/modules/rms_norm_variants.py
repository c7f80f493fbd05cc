import torch
from torch import nn

ROWS, WIDTH = 2048, 512


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6, add_unit_offset: bool = False):
        super().__init__()
        self.eps = eps
        self.add_unit_offset = add_unit_offset
        self.weight = nn.Parameter(torch.zeros(dim) if add_unit_offset else torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float())
        if self.add_unit_offset:
            output = output * (1 + self.weight.float())
        else:
            output = output * self.weight.float()
        return output.type_as(x)


class PartialRMSNorm(nn.Module):
    """Statistics over the first p of the features only."""

    def __init__(self, d, p=0.25, eps=1e-8):
        super().__init__()
        self.d, self.p, self.eps = d, p, eps
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        size = int(self.d * self.p)
        partial, _ = torch.split(x, [size, self.d - size], dim=-1)
        rms = partial.norm(2, dim=-1, keepdim=True) * size ** (-1. / 2)
        return self.scale * (x / (rms + self.eps))


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norms = nn.ModuleList([RMSNorm(dim), RMSNorm(dim, add_unit_offset=True), PartialRMSNorm(dim)])

    def forward(self, x):
        for norm in self.norms:
            x = x + norm(x)
        return x


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH]
