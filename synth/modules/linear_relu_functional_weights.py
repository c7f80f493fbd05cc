import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Linear + ReLU where weight and bias are inputs."""

    def forward(self, x, weight, bias):
        return F.relu(F.linear(x, weight, bias))


def get_inputs():
    return [torch.randn(800, 900), torch.randn(700, 900) * 0.03, torch.zeros(700)]


def get_init_inputs():
    return []
