"""Positive and negative part side by side."""
import torch
import torch.nn as nn

ROWS = 512
COLS = 768


class Model(nn.Module):
    def forward(self, x):
        return torch.cat([torch.relu(x), torch.relu(-x)], dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
