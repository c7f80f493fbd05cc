import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self, nx, nh, peephole=True):
        super().__init__()
        self.x = nn.Linear(nx, nh)
        self.h = nn.Linear(nh, nh, bias=False)
        self.p = nn.Parameter(torch.zeros(nh).normal_(std=0.1)) if peephole else None

    def forward(self, x, h, c):
        a = self.x(x) + self.h(h)
        return a if self.p is None else a + self.p * c


class Model(nn.Module):
    """LSTM step with peephole connections."""

    def __init__(self, nx, nh):
        super().__init__()
        self.input, self.forget = Gate(nx, nh), Gate(nx, nh)
        self.cell, self.output = Gate(nx, nh, peephole=False), Gate(nx, nh)

    def forward(self, x, h, c):
        i = torch.sigmoid(self.input(x, h, c))
        f = torch.sigmoid(self.forget(x, h, c))
        c = f * c + i * torch.tanh(self.cell(x, h, c))
        o = torch.sigmoid(self.output(x, h, c))
        return o * torch.tanh(c), c


def get_inputs():
    return [torch.randn(500, 100), torch.randn(500, 150), torch.randn(500, 150)]


def get_init_inputs():
    return [100, 150]
