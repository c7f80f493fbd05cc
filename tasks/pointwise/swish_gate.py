"""Gated activation: the gate passes through SiLU and multiplies the value."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 4096
WIDTH = 1024


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, value, gate):
        return value * F.silu(gate)


def get_inputs():
    return [torch.randn(TOKENS, WIDTH), torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return []
