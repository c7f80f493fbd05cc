"""A float16 matrix product."""
import torch
import torch.nn as nn

M = 256
N = 256
K = 256


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K).to(torch.float16), torch.randn(K, N).to(torch.float16)]
