import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Soft clustering of a graph: nodes and adjacency are pooled with an assignment matrix."""

    def __init__(self, feat, hidden, clusters):
        super().__init__()
        self.embed = nn.Linear(feat, hidden)
        self.assign = nn.Linear(feat, clusters)

    def forward(self, x, adj):
        ax = adj @ x
        z = F.relu(self.embed(ax))
        s = torch.softmax(self.assign(ax), dim=-1)
        st = s.transpose(1, 2)
        return st @ z, st @ adj @ s


def get_inputs():
    return [torch.randn(16, 100, 64), torch.rand(16, 100, 100)]


def get_init_inputs():
    return [64, 64, 12]
