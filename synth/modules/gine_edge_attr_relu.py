import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, bond_types):
        super().__init__()
        self.bond = nn.Embedding(bond_types, channels)
        self.update = nn.Linear(channels, channels)

    def message(self, x_j, edge_attr):
        return torch.relu(x_j + self.bond(edge_attr))

    def forward(self, x, edge_index, edge_attr):
        m = self.message(x.index_select(0, edge_index[0]), edge_attr)
        out = x.new_zeros(x.shape)
        out = out.scatter_add(0, edge_index[1].unsqueeze(-1).expand(-1, x.size(1)), m)
        return self.update(out + x)


def get_inputs():
    E = 16000
    return [torch.randn(4000, 128), torch.randint(0, 4000, (2, E)), torch.randint(0, 6, (E,))]


def get_init_inputs():
    return [128, 6]
