import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedLinear(nn.Linear):
    def __init__(self, n_in, n_out, mask):
        super().__init__(n_in, n_out)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class Model(nn.Module):
    """MAF step: u = (x - m) * exp(-a), with m and a from a masked network."""

    def __init__(self, d, h):
        super().__init__()
        deg_in = torch.arange(d)
        deg_h = torch.arange(h) % (d - 1)
        m1 = (deg_h[:, None] >= deg_in[None, :]).float()
        m2 = (deg_in[:, None] > deg_h[None, :]).float()
        self.hidden = MaskedLinear(d, h, m1)
        self.out = MaskedLinear(h, 2 * d, m2.repeat(2, 1))

    def forward(self, x):
        m, a = self.out(torch.relu(self.hidden(x))).chunk(2, dim=1)
        a = torch.tanh(a)
        u = (x - m) * torch.exp(-a)
        return u, -a.sum(-1, keepdim=True)


def get_inputs():
    return [torch.randn(2000, 63)]


def get_init_inputs():
    return [63, 256]
