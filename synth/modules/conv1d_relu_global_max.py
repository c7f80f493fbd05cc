import torch
import torch.nn as nn


class Model(nn.Module):
    """Text CNN branch: convolution over time, relu, maximum over time."""

    def __init__(self, embed_dim: int, n_filters: int, width: int):
        super().__init__()
        self.conv = nn.Conv1d(embed_dim, n_filters, width)

    def forward(self, embedded):
        h = torch.relu(self.conv(embedded.transpose(1, 2)))
        return h.max(dim=2)[0]


def get_inputs():
    return [torch.randn(48, 120, 128)]


def get_init_inputs():
    return [128, 100, 4]
