import torch
import torch.nn as nn


def block(i, o):
    return nn.Sequential(nn.Linear(i, o, bias=False), nn.BatchNorm1d(o), nn.PReLU(), nn.Dropout(0.0))


class Model(nn.Module):
    """Two blocks and a linear read-out, multiplied by a fixed scale."""

    def __init__(self, sizes, out, scale):
        super().__init__()
        self.blocks = nn.Sequential(*[block(i, o) for i, o in zip(sizes[:-1], sizes[1:])])
        self.readout = nn.Linear(sizes[-1], out)
        self.scale = scale

    def forward(self, x):
        return self.readout(self.blocks(x)).mul(self.scale)


def get_inputs():
    return [torch.randn(400, 150)]


def get_init_inputs():
    return [[150, 256, 192], 80, 0.3]
