import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Weights that favour small costs, and the expected cost."""

    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, cost):
        weights = F.softmin(cost / self.temperature, dim=1)
        return (weights * cost).sum(dim=1)


def get_inputs():
    return [torch.rand(16, 96, 1000)]


def get_init_inputs():
    return [0.1]
