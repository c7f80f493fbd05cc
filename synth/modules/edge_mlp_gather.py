import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, node_dim, edge_dim, hidden):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(2 * node_dim + edge_dim, hidden), nn.SiLU())
        self.upd = nn.Linear(node_dim + hidden, node_dim)
        self.hidden = hidden

    def forward(self, nodes, edges, senders, receivers):
        m = self.msg(torch.cat([nodes[senders], nodes[receivers], edges], dim=-1))
        agg = nodes.new_zeros(nodes.size(0), self.hidden)
        index = receivers.unsqueeze(-1).expand(-1, self.hidden)
        agg = agg.scatter_add(0, index, m)
        return nodes + self.upd(torch.cat([nodes, agg], dim=-1))


def get_inputs():
    n, e = 1500, 9000
    return [torch.randn(n, 64), torch.randn(e, 16), torch.randint(n, (e,)), torch.randint(n, (e,))]


def get_init_inputs():
    return [64, 16, 112]
