import torch
import torch.nn as nn


class Model(nn.Module):
    """One day of an SEIR model with mixing between age groups."""

    def __init__(self, groups, beta=0.4, sigma=0.2, gamma=0.1):
        super().__init__()
        self.contact = nn.Parameter(torch.rand(groups, groups) / groups)
        self.rates = beta, sigma, gamma

    def forward(self, s, e, i, r):
        beta, sigma, gamma = self.rates
        total = s + e + i + r
        force = beta * torch.matmul(i / total, self.contact.T)
        new_e = s * (1 - torch.exp(-force))
        new_i, new_r = sigma * e, gamma * i
        return [s - new_e, e + new_e - new_i, i + new_i - new_r, r + new_r]


def get_inputs():
    return [torch.rand(3500, 18) * k + 0.1 for k in (100.0, 3.0, 2.0, 5.0)]


def get_init_inputs():
    return [18]
