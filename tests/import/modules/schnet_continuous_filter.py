import torch
import torch.nn as nn
from torch import Tensor
from math import pi as PI

ATOMS, NEIGHBOURS, HIDDEN, GAUSSIANS = 96, 12, 48, 32


class GaussianSmearing(nn.Module):
    def __init__(self, start: float = 0.0, stop: float = 5.0, num_gaussians: int = 50):
        super().__init__()
        offset = torch.linspace(start, stop, num_gaussians)
        self.coeff = -0.5 / (offset[1] - offset[0]).item() ** 2
        self.register_buffer('offset', offset)

    def forward(self, dist: Tensor) -> Tensor:
        dist = dist.unsqueeze(-1) - self.offset
        return torch.exp(self.coeff * torch.pow(dist, 2))


class ShiftedSoftplus(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.log(torch.tensor(2.0)).item()

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.softplus(x) - self.shift


class Model(nn.Module):
    """Interaction block: filters from distances, messages gathered, summed with index_add."""

    def __init__(self, hidden: int, gaussians: int, cutoff: float = 5.0):
        super().__init__()
        self.cutoff = cutoff
        self.emb = nn.Embedding(20, hidden)
        self.smear = GaussianSmearing(0.0, cutoff, gaussians)
        self.mlp = nn.Sequential(nn.Linear(gaussians, hidden), ShiftedSoftplus(), nn.Linear(hidden, hidden))
        self.lin1 = nn.Linear(hidden, hidden, bias=False)
        self.lin2 = nn.Linear(hidden, hidden)
        self.act = ShiftedSoftplus()
        self.readout = nn.Linear(hidden, 1)

    def forward(self, z: Tensor, pos: Tensor, edge_index: Tensor) -> Tensor:
        row, col = edge_index
        h = self.emb(z)
        d = (pos[row] - pos[col]).norm(dim=-1)
        C = 0.5 * (torch.cos(d * PI / self.cutoff) + 1.0) * (d < self.cutoff).float()
        W = self.mlp(self.smear(d)) * C.view(-1, 1)
        messages = self.lin1(h)[row] * W
        agg = torch.zeros_like(h).index_add_(0, col, messages)
        h = h + self.lin2(self.act(agg))
        return self.readout(h).sum(0)


def get_inputs():
    edges = torch.stack([torch.randint(0, ATOMS, (ATOMS * NEIGHBOURS,)), torch.arange(ATOMS).repeat_interleave(NEIGHBOURS)])
    return [torch.randint(1, 20, (ATOMS,)), torch.randn(ATOMS, 3), edges]


def get_init_inputs():
    return [HIDDEN, GAUSSIANS]
