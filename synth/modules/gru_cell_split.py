import torch
from torch import nn


class Model(nn.Module):
    """One step of a GRU with separate input and recurrent projections."""

    def __init__(self, nin, nhid, bias=True):
        super().__init__()
        self.x2h = nn.Linear(nin, 3 * nhid, bias=bias)
        self.h2h = nn.Linear(nhid, 3 * nhid, bias=bias)

    def forward(self, x, hx):
        x_r, x_z, x_n = self.x2h(x).chunk(3, 1)
        h_r, h_z, h_n = self.h2h(hx).chunk(3, 1)
        reset = (x_r + h_r).sigmoid()
        update = (x_z + h_z).sigmoid()
        new = (x_n + reset * h_n).tanh()
        return update * hx + (1 - update) * new


batch_size, nin, nhid = 900, 96, 168


def get_inputs():
    return [torch.randn(batch_size, nin), torch.randn(batch_size, nhid)]


def get_init_inputs():
    return [nin, nhid]
