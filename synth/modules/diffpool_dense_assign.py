import torch
import torch.nn as nn


class Model(nn.Module):
    """Dense DiffPool: soft clusters, pooled features and adjacency, link and entropy losses."""

    def __init__(self, dim, clusters):
        super().__init__()
        self.assign = nn.Linear(dim, clusters)
        self.embed = nn.Linear(dim, dim)

    def forward(self, x, adj, mask):
        s = torch.softmax(self.assign(adj @ x), dim=-1) * mask.unsqueeze(-1)
        z = torch.relu(self.embed(adj @ x))
        out = s.transpose(1, 2) @ z
        out_adj = torch.matmul(torch.matmul(s.transpose(1, 2), adj), s)
        link_loss = (adj - torch.matmul(s, s.transpose(1, 2))).pow(2).mean()
        ent_loss = (-s * torch.log(s + 1e-15)).sum(dim=-1).mean()
        return out, out_adj, link_loss, ent_loss


def get_inputs():
    a = (torch.rand(16, 100, 100) < 0.05).float()
    mask = (torch.arange(100)[None] < torch.randint(60, 101, (16, 1))).float()
    return [torch.randn(16, 100, 64), a, mask]


def get_init_inputs():
    return [64, 20]
