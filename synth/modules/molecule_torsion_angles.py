import torch
import torch.nn as nn


class Model(nn.Module):
    """Dihedral angles of four consecutive atoms and a three-term torsion energy."""

    def __init__(self, v1=1.0, v2=-0.5, v3=0.3):
        super().__init__()
        self.v = (v1, v2, v3)

    def forward(self, p):
        b = p[:, 1:] - p[:, :-1]                      # N, 3, 3
        b1, b2, b3 = b[:, 0], b[:, 1], b[:, 2]
        n1 = torch.cross(b1, b2, dim=-1)
        n2 = torch.cross(b2, b3, dim=-1)
        m = torch.cross(n1, b2 / (b2.norm(dim=-1, keepdim=True) + 1e-8), dim=-1)
        phi = torch.atan2((m * n2).sum(-1), (n1 * n2).sum(-1))
        v1, v2, v3 = self.v
        e = 0.5 * (v1 * (1 + phi.cos()) + v2 * (1 - (2 * phi).cos()) + v3 * (1 + (3 * phi).cos()))
        return phi, e


def get_inputs():
    return [torch.randn(40000, 4, 3)]


def get_init_inputs():
    return []
