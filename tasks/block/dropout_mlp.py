"""A layer with dropout; the sidecar asks for evaluation mode, where dropout passes through."""
import torch
import torch.nn as nn

TOKENS = 1024
WIDTH = 384


class Model(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.dropout = nn.Dropout(rate)

    def forward(self, x):
        return self.dropout(torch.tanh(self.proj(x))) + x


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH, 0.3]
