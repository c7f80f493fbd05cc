"""Add a stored position table (a buffer, not a parameter), then normalise and scale."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
SEQ = 128
WIDTH = 512


class Model(nn.Module):
    def __init__(self, seq, width):
        super().__init__()
        self.register_buffer("position", torch.randn(seq, width))
        self.gain = nn.Parameter(torch.randn(width))

    def forward(self, x):
        y = x + self.position
        return F.layer_norm(y, (y.shape[-1],)) * self.gain


def get_inputs():
    return [torch.randn(BATCH, SEQ, WIDTH)]


def get_init_inputs():
    return [SEQ, WIDTH]
