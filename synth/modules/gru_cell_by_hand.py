import torch
import torch.nn as nn


class MyGRUCell(nn.Module):
    def __init__(self, n_in, n_hid):
        super().__init__()
        self.x2g = nn.Linear(n_in, 3 * n_hid)
        self.h2g = nn.Linear(n_hid, 3 * n_hid)

    def forward(self, x, h):
        xr, xz, xn = self.x2g(x).chunk(3, 1)
        hr, hz, hn = self.h2g(h).chunk(3, 1)
        r = torch.sigmoid(xr + hr)
        z = torch.sigmoid(xz + hz)
        n = torch.tanh(xn + r * hn)
        return (1 - z) * n + z * h


class Model(nn.Module):
    """Reads the sequence backwards, returns the last state only."""

    def __init__(self, n_in, n_hid, n_cls):
        super().__init__()
        self.cell = MyGRUCell(n_in, n_hid)
        self.h0 = nn.Parameter(torch.zeros(1, n_hid))
        self.cls = nn.Linear(n_hid, n_cls)

    def forward(self, seq):
        B, T, _ = seq.shape
        h = self.h0.expand(B, -1)
        for t in reversed(range(T)):
            h = self.cell(seq[:, t], h)
        return self.cls(h)


def get_inputs():
    return [torch.randn(400, 5, 60)]


def get_init_inputs():
    return [60, 90, 7]
