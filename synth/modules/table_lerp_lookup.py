import torch
import torch.nn as nn


class Model(nn.Module):
    """Evaluates a tabulated function with linear interpolation between its samples."""

    def __init__(self, lo: float, hi: float, n: int):
        super().__init__()
        grid = torch.linspace(lo, hi, n)
        self.register_buffer('table', torch.sin(grid) * torch.exp(-0.1 * grid))
        self.lo, self.inv_step, self.n = lo, (n - 1) / (hi - lo), n

    def forward(self, x):
        u = ((x - self.lo) * self.inv_step).clamp(0, self.n - 1 - 1e-3)
        k = u.long()
        return torch.lerp(self.table[k], self.table[k + 1], u - k)


def get_inputs():
    return [torch.rand(900, 1400) * 12 - 1]


def get_init_inputs():
    return [0.0, 10.0, 257]
