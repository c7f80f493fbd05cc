import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = parts
        self.gain = nn.Parameter(torch.ones(parts) * 0.7)

    def forward(self, x):
        first, *middle, last = x.chunk(self.parts, dim=1)
        edge = torch.sigmoid(first) * torch.tanh(last)
        body = sum(g * m for g, m in zip(self.gain, middle))
        return edge + body


def get_inputs():
    return [torch.randn(64, 40, 500)]


def get_init_inputs():
    return [5]
