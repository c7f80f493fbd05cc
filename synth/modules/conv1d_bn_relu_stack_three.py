import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Three Conv1d/BatchNorm1d/ReLU layers with growing dilation and a global max over time."""

    def __init__(self, in_dim, hid, n_layers):
        super().__init__()
        dims = [in_dim] + [hid] * n_layers
        self.convs = nn.ModuleList(
            nn.Conv1d(dims[i], dims[i + 1], 3, padding=2 ** i, dilation=2 ** i) for i in range(n_layers)
        )
        self.bns = nn.ModuleList(nn.BatchNorm1d(hid) for _ in range(n_layers))

    def forward(self, x):
        for conv, bn in zip(self.convs, self.bns):
            x = F.relu(bn(conv(x)))
        return x.max(dim=-1)[0]


def get_inputs():
    return [torch.randn(8, 24, 300)]


def get_init_inputs():
    return [24, 32, 3]
