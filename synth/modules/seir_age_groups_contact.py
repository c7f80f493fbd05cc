import torch
import torch.nn as nn


class Model(nn.Module):
    """One day of an SEIR model with a contact matrix between age groups."""

    def __init__(self, groups, beta, sigma, gamma):
        super().__init__()
        self.contact = nn.Parameter(torch.rand(groups, groups) / groups)
        self.beta = beta
        self.sigma = sigma
        self.gamma = gamma

    def forward(self, S, E, I, R):
        N = S + E + I + R
        force = self.beta * (I / N) @ self.contact.t()
        new_e = force * S
        new_i = self.sigma * E
        new_r = self.gamma * I
        return S - new_e, E + new_e - new_i, I + new_i - new_r, R + new_r


def get_inputs():
    s = (20000, 16)
    return [torch.rand(s) * 1000 + 1, torch.rand(s) * 10, torch.rand(s) * 10, torch.rand(s) * 50]


def get_init_inputs():
    return [16, 0.6, 0.25, 0.1]
