import torch
import torch.nn as nn


class Model(nn.Module):
    """Decay gate in float32, state mix in bfloat16: h' = a h + (1 - a) v."""

    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, 2 * d, bias=False).bfloat16()
        self.floor = nn.Parameter(torch.linspace(0.0, 0.9, d))

    def forward(self, x, h):
        g, v = self.lin(x).chunk(2, dim=-1)
        a = self.floor + (1 - self.floor) * torch.sigmoid(g.float())
        a = a.to(h.dtype)
        return a * h + (1 - a) * v


def get_inputs():
    return [torch.randn(900, 224).bfloat16(), torch.randn(900, 224).bfloat16()]


def get_init_inputs():
    return [224]
