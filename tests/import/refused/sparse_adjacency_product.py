import torch
import torch.nn as nn

NODES, FEATS = 300, 32


class GraphLayer(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.lin = nn.Linear(f, f, bias=False)

    def forward(self, adj, x):
        return torch.sparse.mm(adj, self.lin(x))


class Model(nn.Module):
    def __init__(self, nodes, f):
        super().__init__()
        idx = torch.stack([torch.arange(nodes).repeat_interleave(4), torch.randint(0, nodes, (4 * nodes,))])
        self.register_buffer("adj", torch.sparse_coo_tensor(idx, torch.rand(4 * nodes), (nodes, nodes)).coalesce())
        self.layers = nn.ModuleList([GraphLayer(f), GraphLayer(f)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(self.adj, x))
        return x


def get_inputs():
    return [torch.randn(NODES, FEATS)]


def get_init_inputs():
    return [NODES, FEATS]
