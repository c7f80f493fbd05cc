"""Matrix product with a small result and a very long inner dimension, float16."""
import torch
import torch.nn as nn

M = 128
N = 128
K = 8192


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K).to(torch.float16), torch.randn(K, N).to(torch.float16)]


def get_init_inputs():
    return []
