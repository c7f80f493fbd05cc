import torch
import torch.nn as nn


class Model(nn.Module):
    """An ensemble of MLPs in one: weights have a leading axis of members; gives mean and variance."""

    def __init__(self, members, d_in, d_h, d_out):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(members, d_in, d_h) * d_in ** -0.5)
        self.b1 = nn.Parameter(torch.zeros(members, 1, d_h))
        self.w2 = nn.Parameter(torch.randn(members, d_h, d_out) * d_h ** -0.5)
        self.b2 = nn.Parameter(torch.zeros(members, 1, d_out))

    def forward(self, x):
        h = torch.baddbmm(self.b1, x.expand(self.w1.size(0), -1, -1), self.w1)
        h = h * torch.sigmoid(h)
        y = torch.baddbmm(self.b2, h, self.w2)
        return y.mean(0), y.var(0)


def get_inputs():
    return [torch.randn(1000, 32)]


def get_init_inputs():
    return [5, 32, 128, 8]
