import torch
import torch.nn as nn


class CIFGCell(nn.Module):
    """input gate = 1 - forget gate"""

    def __init__(self, n_x, n_h):
        super().__init__()
        self.lin = nn.Linear(n_x + n_h, 3 * n_h)

    def forward(self, x, h, c):
        f, o, g = self.lin(torch.cat([x, h], -1)).chunk(3, -1)
        f = f.sigmoid()
        c = f * c + (1 - f) * g.tanh()
        return o.sigmoid() * c.tanh(), c


class Model(nn.Module):
    def __init__(self, n_x, n_h):
        super().__init__()
        self.cell = CIFGCell(n_x, n_h)
        self.n_h = n_h

    def forward(self, seq):
        h = seq.new_zeros(seq.size(1), self.n_h)
        c = torch.zeros_like(h)
        outs = []
        for x in seq.unbind(0):
            h, c = self.cell(x, h, c)
            outs.append(h)
        return torch.stack(outs)


def get_inputs():
    return [torch.randn(3, 400, 64)]


def get_init_inputs():
    return [64, 128]
