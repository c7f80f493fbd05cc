import torch
from torch import nn


class Model(nn.Module):
    """Graph isomorphism layer: MLP((1 + eps) * x + sum of neighbours)."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.eps = nn.Parameter(torch.tensor(0.1))
        self.nn = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, x, edge_index):
        row, col = edge_index[0], edge_index[1]
        agg = torch.zeros_like(x).index_add(0, col, x[row])
        return self.nn((1 + self.eps) * x + agg)


def get_inputs():
    return [torch.randn(5000, 96), torch.randint(0, 5000, (2, 24000))]


def get_init_inputs():
    return [96, 192]
