import torch
import torch.nn as nn
import torch.nn.functional as F


class WNLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.v = nn.Parameter(torch.randn(n_out, n_in) * 0.05)
        self.g = nn.Parameter(torch.ones(n_out, 1))
        self.b = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        w = self.g * self.v / self.v.norm(dim=1, keepdim=True)
        return F.linear(x, w, self.b)


class Model(nn.Module):
    def __init__(self, n_in, n_h, n_out):
        super().__init__()
        self.l1, self.l2 = WNLinear(n_in, n_h), WNLinear(n_h, n_out)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def get_inputs():
    return [torch.randn(900, 200)]


def get_init_inputs():
    return [200, 350, 64]
