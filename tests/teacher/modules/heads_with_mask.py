"""Scores of several heads, a mask of the caller's, and a number that comes with every call."""
import math

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim, bias=False)

    def forward(self, x, keep, temperature):
        b, t, d = x.shape
        q = self.query(x).view(b, t, self.heads, d // self.heads).transpose(1, 2)
        scores = q @ q.transpose(-2, -1) / math.sqrt(d // self.heads)
        scores = torch.where(keep[:, None, None, :], scores / temperature, torch.full_like(scores, -1e4))
        return {"weights": scores.softmax(-1), "largest": scores.amax(-1)}


def get_inputs():
    return [torch.randn(2, 18, 32), torch.rand(2, 18) > 0.3, 0.7]


def get_init_inputs():
    return [32, 4]
