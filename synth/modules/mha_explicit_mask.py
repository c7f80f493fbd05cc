import math

import torch
import torch.nn as nn


class Model(nn.Module):
    """Masked self-attention with the heads split by view and transpose."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        assert d_model % n_heads == 0
        self.h = n_heads
        self.d_k = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask):
        B, T, C = x.size()
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, T, self.h, self.d_k).transpose(1, 2)  # B, h, T, d
        k = k.view(B, T, self.h, self.d_k).transpose(1, 2)
        v = v.view(B, T, self.h, self.d_k).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(self.d_k)
        att = att.masked_fill(mask[:, None, None, :], float("-inf"))
        att = att.softmax(dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.out(y)


B, T, C, H = 4, 180, 240, 6


def get_inputs():
    pad = torch.zeros(B, T, dtype=torch.bool)
    pad[:, -13:] = True
    return [torch.randn(B, T, C), pad]


def get_init_inputs():
    return [C, H]
