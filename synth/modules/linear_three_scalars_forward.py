import torch
import torch.nn as nn


class Model(nn.Module):
    """Matrix product with scalars that forward is given: y = (min(max(xW * a + b, lo), hi))^2 / rows."""

    def __init__(self, nin, nout):
        super().__init__()
        self.linear = nn.Linear(nin, nout, bias=False)

    def forward(self, x, a: float, b: float, lo: float = -1.0, hi: float = 1.0):
        y = self.linear(x) * a + b
        y = torch.clip(y, lo, hi)
        return (y * y).sum(dim=0) / x.shape[0]


def get_inputs():
    return [torch.randn(760, 340), 0.8, -0.1, -0.9, 1.4]


def get_init_inputs():
    return [340, 285]
