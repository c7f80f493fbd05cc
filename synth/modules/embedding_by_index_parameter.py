import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Parameter(torch.randn(n, d) * 0.02)
        self.scale = d ** 0.5

    def forward(self, idx):
        return self.table[idx] * self.scale


def get_inputs():
    return [torch.randint(0, 5000, (16, 300))]


def get_init_inputs():
    return [5000, 320]
