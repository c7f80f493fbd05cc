import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        """Exclusive scan with a leading zero; the output is one longer than the input."""
        zeros = torch.zeros_like(x.narrow(self.dim, 0, 1))
        return torch.cat((zeros, torch.cumsum(x, self.dim)), dim=self.dim)


def get_inputs():
    return [torch.rand(1024, 700)]


def get_init_inputs():
    return [0]
