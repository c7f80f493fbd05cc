import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, dim, expand, use_ffn, use_norm):
        super().__init__()
        self.use_ffn = use_ffn
        self.use_norm = use_norm
        self.ln = nn.LayerNorm(dim)
        self.w1 = nn.Linear(dim, dim * expand)
        self.w2 = nn.Linear(dim * expand, dim)

    def forward(self, x):
        if self.use_norm:
            x = self.ln(x)
        if not self.use_ffn:
            return x
        y = self.w2(F.relu(self.w1(x)) ** 2)
        return x + y


def get_inputs():
    return [torch.randn(6, 150, 160)]


def get_init_inputs():
    return [160, 3, True, False]
