"""Batched matrix product with a scale."""
import torch
import torch.nn as nn

BATCH = 48
M = 128
N = 128
K = 256


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, a, b):
        return torch.bmm(a, b) * self.scale


def get_inputs():
    return [torch.randn(BATCH, M, K), torch.randn(BATCH, K, N)]


def get_init_inputs():
    return [0.0625]
