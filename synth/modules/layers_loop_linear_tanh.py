import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.fcs = nn.ModuleList(nn.Linear(i, o) for i, o in zip(widths, widths[1:]))

    def forward(self, x):
        for fc in self.fcs:
            x = torch.tanh(fc(x))
        return x


def get_inputs():
    return [torch.randn(1800, 64)]


def get_init_inputs():
    return [[64, 256, 128, 10]]
