import torch
import torch.nn as nn


class GCNConv(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(fin, fout))
        self.bias = nn.Parameter(torch.zeros(fout))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, row, col, norm):
        h = x @ self.weight
        out = torch.zeros_like(h)
        out = out.index_add(0, row, h[col] * norm.unsqueeze(1))
        return out + self.bias


class Model(nn.Module):
    """Two graph convolutions with symmetric normalisation by the degrees."""

    def __init__(self, fin, hidden, classes):
        super(Model, self).__init__()
        self.convs = nn.ModuleList([GCNConv(fin, hidden), GCNConv(hidden, classes)])

    def forward(self, x, row, col):
        deg = torch.zeros(x.shape[0], device=x.device).index_add(0, row, torch.ones(row.numel(), device=x.device))
        inv = deg.clamp(min=1).rsqrt()
        norm = inv[row] * inv[col]
        for i, conv in enumerate(self.convs):
            x = conv(x, row, col, norm)
            if i + 1 < len(self.convs):
                x = x.relu()
        return x


V, E = 2400, 15000


def get_inputs():
    return [torch.randn(V, 128), torch.randint(0, V, (E,)), torch.randint(0, V, (E,))]


def get_init_inputs():
    return [128, 64, 20]
