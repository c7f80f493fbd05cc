import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear outputs weighted by the spread that each feature has over the batch."""

    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x):
        z = self.lin(x)
        spread = z.std(dim=0, unbiased=False)
        weight = spread / (spread.mean() + 1e-6)
        return torch.tanh(z) * weight


def get_inputs():
    return [torch.randn(660, 215)]


def get_init_inputs():
    return [215, 300]
