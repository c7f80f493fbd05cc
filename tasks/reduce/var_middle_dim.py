"""Unbiased variance over the middle dimension of a rank-3 tensor."""
import torch
import torch.nn as nn

BATCH = 16
DEPTH = 128
WIDTH = 512


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.var(x, dim=1)


def get_inputs():
    return [torch.randn(BATCH, DEPTH, WIDTH)]


def get_init_inputs():
    return []
