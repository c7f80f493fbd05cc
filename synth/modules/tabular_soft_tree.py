import torch
import torch.nn as nn


class Model(nn.Module):
    """Oblivious soft decision trees of depth three: products of sigmoid splits weight the leaf values."""

    def __init__(self, in_features, trees):
        super().__init__()
        self.split = nn.Linear(in_features, 3 * trees)
        self.leaves = nn.Parameter(torch.randn(trees, 2, 2, 2))
        self.trees = trees

    def forward(self, x):
        s = self.split(x).view(-1, self.trees, 3).sigmoid()
        p = torch.stack([s, 1 - s], dim=-1)                  # N, T, 3, 2
        a = p[:, :, 0, :, None, None]
        b = p[:, :, 1, None, :, None]
        c = p[:, :, 2, None, None, :]
        return (a * b * c * self.leaves).sum(dim=(2, 3, 4))


def get_inputs():
    return [torch.randn(4000, 60)]


def get_init_inputs():
    return [60, 50]
