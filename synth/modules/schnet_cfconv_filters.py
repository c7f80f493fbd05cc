import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Continuous-filter convolution: Gaussian basis, shifted softplus, cosine cutoff."""

    def __init__(self, hidden, n_gauss, cutoff):
        super().__init__()
        self.cutoff = cutoff
        offset = torch.linspace(0.0, cutoff, n_gauss)
        self.coeff = -0.5 / (cutoff / (n_gauss - 1)) ** 2
        self.register_buffer("offset", offset)
        self.mlp_0 = nn.Linear(n_gauss, hidden)
        self.mlp_2 = nn.Linear(hidden, hidden)

    def ssp(self, x):
        return F.softplus(x) - math.log(2.0)

    def forward(self, x, edge_src, edge_dst, edge_length):
        rbf = torch.exp(self.coeff * (edge_length.view(-1, 1) - self.offset.view(1, -1)).pow(2))
        C = 0.5 * (torch.cos(edge_length * math.pi / self.cutoff) + 1.0)
        W = self.mlp_2(self.ssp(self.mlp_0(rbf))) * C.view(-1, 1)
        return torch.zeros_like(x).index_add(0, edge_dst, x[edge_src] * W)


def get_inputs():
    N, E = 1500, 15000
    return [torch.randn(N, 64), torch.randint(0, N, (E,)), torch.randint(0, N, (E,)), torch.rand(E) * 5]


def get_init_inputs():
    return [64, 50, 5.0]
