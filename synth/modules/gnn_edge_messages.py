import torch
import torch.nn as nn


class Model(nn.Module):
    """Two rounds of message passing; messages are summed at their target with index_add."""

    def __init__(self, node_dim, edge_dim, hidden, rounds):
        super().__init__()
        self.embed = nn.Linear(node_dim, hidden)
        self.msg = nn.ModuleList([nn.Linear(2 * hidden + edge_dim, hidden) for _ in range(rounds)])
        self.upd = nn.ModuleList([nn.Linear(2 * hidden, hidden) for _ in range(rounds)])

    def forward(self, nodes, edge_index, edge_attr):
        h = torch.relu(self.embed(nodes))
        src, dst = edge_index[0], edge_index[1]
        for msg, upd in zip(self.msg, self.upd):
            m = torch.relu(msg(torch.cat([h[src], h[dst], edge_attr], dim=-1)))
            agg = torch.zeros_like(h).index_add(0, dst, m)
            h = h + torch.relu(upd(torch.cat([h, agg], dim=-1)))
        return h


N, E = 2500, 11000


def get_inputs():
    return [torch.randn(N, 30), torch.randint(0, N, (2, E)), torch.randn(E, 9)]


def get_init_inputs():
    return [30, 9, 52, 2]
