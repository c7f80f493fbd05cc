"""Product of a transposed left matrix with a right matrix: A is stored K by M."""
import torch
import torch.nn as nn

M = 512
N = 384
K = 1024


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.matmul(a.t(), b)


def get_inputs():
    return [torch.randn(K, M), torch.randn(K, N)]


def get_init_inputs():
    return []
