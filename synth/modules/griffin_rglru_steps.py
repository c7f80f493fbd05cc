import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """RG-LRU of Griffin over a handful of positions."""

    c = 8.0

    def __init__(self, width):
        super().__init__()
        self.gate_a = nn.Linear(width, width)
        self.gate_x = nn.Linear(width, width)
        self.lam = nn.Parameter(torch.linspace(0.5, 2.0, width))

    def forward(self, x):
        r = self.gate_a(x).sigmoid()
        i = self.gate_x(x).sigmoid()
        log_a = -self.c * r * F.softplus(-self.lam)
        a = log_a.exp()
        gated = torch.sqrt(1 - torch.exp(2 * log_a)) * i * x
        h = gated[:, 0]
        out = [h]
        for t in range(1, x.shape[1]):
            h = a[:, t] * h + gated[:, t]
            out.append(h)
        return torch.stack(out, 1)


def get_inputs():
    return [torch.randn(128, 4, 256)]


def get_init_inputs():
    return [256]
