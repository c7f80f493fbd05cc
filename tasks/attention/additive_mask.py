"""Attention whose scores get an additive mask given as an input, shared by all heads."""
import torch
import torch.nn as nn

BATCH = 2
HEADS = 4
SEQ = 384
HEAD_DIM = 64


class Model(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.scale = head_dim**-0.5

    def forward(self, q, k, v, mask):
        scores = torch.matmul(q * self.scale, k.transpose(-2, -1)) + mask.unsqueeze(1)
        return torch.matmul(torch.softmax(scores, dim=-1), v)


def get_inputs():
    shape = (BATCH, HEADS, SEQ, HEAD_DIM)
    mask = torch.randn(BATCH, SEQ, SEQ)
    return [torch.randn(shape), torch.randn(shape), torch.randn(shape), mask]


def get_init_inputs():
    return [HEAD_DIM]
