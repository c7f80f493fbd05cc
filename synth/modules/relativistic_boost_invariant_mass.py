import torch
import torch.nn as nn


class Model(nn.Module):
    """Four-vectors from pt, eta, phi, m; invariant mass of pairs and transverse sum of an event."""

    def __init__(self):
        super().__init__()

    def forward(self, pt, eta, phi, m):
        px = pt * torch.cos(phi)
        py = pt * torch.sin(phi)
        pz = pt * torch.sinh(eta)
        e = torch.sqrt(px * px + py * py + pz * pz + m * m)
        E = e[:, :, None] + e[:, None, :]
        P2 = (
            (px[:, :, None] + px[:, None, :]) ** 2
            + (py[:, :, None] + py[:, None, :]) ** 2
            + (pz[:, :, None] + pz[:, None, :]) ** 2
        )
        pair_mass = torch.sqrt((E * E - P2).clamp(min=0))
        return pair_mass, torch.hypot(px.sum(1), py.sum(1))


def get_inputs():
    n = (1500, 30)
    return [torch.rand(n) * 50 + 1, torch.randn(n), torch.rand(n) * 6.28, torch.rand(n)]


def get_init_inputs():
    return []
