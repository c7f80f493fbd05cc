import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, hidden, proj, temperature=0.5):
        super().__init__()
        self.projection = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, proj))
        self.temperature = temperature

    def forward(self, h_i, h_j):
        N = h_i.shape[0]
        z = F.normalize(self.projection(torch.cat((h_i, h_j), dim=0)), dim=1)
        sim = torch.mm(z, z.t()) / self.temperature
        sim = sim.masked_fill(torch.eye(2 * N, dtype=torch.bool, device=sim.device), -9e15)
        # the positive of row i is i + N (mod 2N)
        positives = sim.diagonal(N)
        positives = torch.cat([positives, positives], dim=0)
        nll = -positives + torch.logsumexp(sim, dim=-1)
        return nll.mean()


def get_inputs():
    return [torch.randn(400, 256), torch.randn(400, 256)]


def get_init_inputs():
    return [256, 96]
