import torch
import torch.nn as nn

NUM_NODES = 3000
NUM_EDGES = 18000
F_IN, F_OUT = 96, 72


class Model(nn.Module):
    """GraphSAGE with the mean of the neighbours."""

    def __init__(self, in_features, out_features):
        super(Model, self).__init__()
        self.lin_self = nn.Linear(in_features, out_features)
        self.lin_neigh = nn.Linear(in_features, out_features, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        agg = torch.zeros_like(x)
        agg.index_add_(0, dst, x[src])
        deg = torch.zeros(x.size(0), device=x.device, dtype=x.dtype)
        deg.index_add_(0, dst, torch.ones_like(dst, dtype=x.dtype))
        mean = agg / deg.clamp(min=1.0).unsqueeze(-1)
        return torch.relu(self.lin_self(x) + self.lin_neigh(mean))


def get_inputs():
    edges = torch.randint(0, NUM_NODES, (2, NUM_EDGES))
    return [torch.randn(NUM_NODES, F_IN), edges]


def get_init_inputs():
    return [F_IN, F_OUT]
