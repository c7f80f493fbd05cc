import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """F.bilinear with own parameters, softplus and division by the sum."""

    def __init__(self, n1, n2, n_out):
        super().__init__()
        bound = n1 ** -0.5
        self.weight = nn.Parameter(torch.empty(n_out, n1, n2).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x1, x2):
        e = F.softplus(F.bilinear(x1, x2, self.weight, self.bias))
        return e / e.sum(dim=-1, keepdim=True)


def get_inputs():
    return [torch.randn(1024, 40), torch.randn(1024, 28)]


def get_init_inputs():
    return [40, 28, 50]
