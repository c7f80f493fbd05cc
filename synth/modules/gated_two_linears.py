import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return nn.functional.silu(self.w1(x)) * self.w3(x)


def get_inputs():
    return [torch.randn(640, 416)]


def get_init_inputs():
    return [416, 1088]
