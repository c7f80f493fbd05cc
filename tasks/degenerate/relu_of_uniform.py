"""Deliberately degenerate: ReLU of numbers drawn from [0, 1) returns its input."""
import torch
import torch.nn as nn

COUNT = 8388608


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.rand(COUNT)]


def get_init_inputs():
    return []
