"""Rotary positions for queries and keys, from tables that hold each frequency twice."""
import torch
import torch.nn as nn

HEADS = 16
SEQ = 256
WIDTH = 64


def rotated(x):
    low, high = x.chunk(2, dim=-1)
    return torch.cat((-high, low), dim=-1)


class Model(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        frequency = 1.0 / 10000.0 ** (torch.arange(0, width, 2).float() / width)
        angle = torch.outer(torch.arange(longest).float(), frequency)
        angle = torch.cat((angle, angle), dim=-1)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, q, k):
        cos, sin = self.cos[: q.shape[-2]], self.sin[: q.shape[-2]]
        return q * cos + rotated(q) * sin, k * cos + rotated(k) * sin


def get_inputs():
    return [torch.randn(2, HEADS, SEQ, WIDTH), torch.randn(2, HEADS, SEQ, WIDTH)]


def get_init_inputs():
    return [WIDTH, SEQ + 28]
