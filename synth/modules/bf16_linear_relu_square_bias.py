import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.up = nn.Linear(n, m, bias=False, dtype=torch.bfloat16)
        self.bias = nn.Parameter(torch.zeros(m, dtype=torch.bfloat16))

    def forward(self, x):
        x = self.up(x)
        x = torch.relu(x) ** 2
        return x + self.bias


def get_inputs():
    return [torch.randn(4, 128, 256, dtype=torch.bfloat16)]


def get_init_inputs():
    return [256, 1024]
