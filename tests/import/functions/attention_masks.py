"""Attention whose masks leave a query no key: PyTorch's call gives zeros for it, a softmax of its own gives nothing that is a number."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, HEADS, ROWS, WIDTH = 2, 2, 40, 16


class Model(nn.Module):
    def forward(self, q, k, v, seen, bias):
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH)
        own = torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1) @ v
        return [
            F.scaled_dot_product_attention(q, k, v, attn_mask=seen),
            F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=0.5),
            own,
        ]


def get_inputs():
    seen = torch.rand(BATCH, 1, ROWS, ROWS) > 0.3
    seen[1, 0, 5] = False
    bias = torch.zeros(BATCH, 1, ROWS, ROWS)
    bias[0, 0, :, -8:] = float("-inf")
    bias[1] = float("-inf")
    return [*(torch.randn(BATCH, HEADS, ROWS, WIDTH) for _ in range(3)), seen, bias]


def get_init_inputs():
    return []
