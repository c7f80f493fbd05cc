import torch
import torch.nn as nn


class WNLinear(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.v = nn.Parameter(torch.randn(fout, fin) * 0.05)
        self.g = nn.Parameter(torch.ones(fout, 1))
        self.b = nn.Parameter(torch.zeros(fout))

    def forward(self, x):
        w = self.g * self.v / torch.linalg.vector_norm(self.v, dim=1, keepdim=True)
        return torch.addmm(self.b, x, w.t())


class Model(nn.Module):
    # Two weight-normalised layers with a softplus between (as in neural SDFs), plus a skip of the input
    def __init__(self, fin, hidden, fout, beta):
        super().__init__()
        self.l0 = WNLinear(fin, hidden)
        self.l1 = WNLinear(hidden + fin, fout)
        self.softplus = nn.Softplus(beta=beta)

    def forward(self, p):
        h = self.softplus(self.l0(p))
        h = torch.cat([h, p], 1) / 2 ** 0.5
        return self.l1(h)


def get_inputs():
    return [torch.randn(3700, 63)]


def get_init_inputs():
    return [63, 260, 30, 20]
