"""A large float16 matrix product."""
import torch
import torch.nn as nn

M = 512
N = 512
K = 512


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K).to(torch.float16), torch.randn(K, N).to(torch.float16)]
