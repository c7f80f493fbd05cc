import torch
import torch.nn as nn


class Model(nn.Module):
    """E(n)-equivariant layer: messages from squared distances move the coordinates and the features."""

    def __init__(self, nf, hidden):
        super().__init__()
        self.edge_mlp = nn.Sequential(nn.Linear(2 * nf + 1, hidden), nn.SiLU())
        self.coord_mlp = nn.Linear(hidden, 1, bias=False)
        self.node_mlp = nn.Linear(nf + hidden, nf)

    def forward(self, h, coord, edge_index):
        row, col = edge_index
        diff = coord[row] - coord[col]
        radial = (diff**2).sum(1, keepdim=True)
        m = self.edge_mlp(torch.cat([h[row], h[col], radial], dim=1))
        shift = diff / (radial.sqrt() + 1) * self.coord_mlp(m)
        coord = coord + torch.zeros_like(coord).index_add(0, row, shift)
        agg = torch.zeros(h.size(0), m.size(1), device=h.device).index_add(0, row, m)
        return h + self.node_mlp(torch.cat([h, agg], 1)), coord


def get_inputs():
    return [torch.randn(2400, 48), torch.randn(2400, 3), torch.randint(0, 2400, (2, 12000))]


def get_init_inputs():
    return [48, 64]
