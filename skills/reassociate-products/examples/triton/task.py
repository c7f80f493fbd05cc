"""Two matrices applied to a vector, associated the expensive way."""
import torch
import torch.nn as nn

M = 384
K = 320
N = 448


class Model(nn.Module):
    def forward(self, a, b, v):
        return torch.matmul(torch.matmul(a, b), v)


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N), torch.randn(N)]
