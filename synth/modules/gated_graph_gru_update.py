import torch
import torch.nn as nn


class Model(nn.Module):
    """Gated graph network: adjacency-weighted messages, one GRU cell shared over two rounds."""

    def __init__(self, width, rounds):
        super().__init__()
        self.message = nn.Linear(width, width)
        self.update = nn.GRUCell(width, width)
        self.rounds = rounds

    def forward(self, node_state, adjacency):
        b, n, d = node_state.shape
        h = node_state
        for _ in range(self.rounds):
            m = torch.bmm(adjacency, self.message(h))
            h = self.update(m.reshape(-1, d), h.reshape(-1, d)).view(b, n, d)
        return h


def get_inputs():
    return [torch.randn(20, 60, 96), torch.rand(20, 60, 60) / 60]


def get_init_inputs():
    return [96, 2]
