"""GEGLU on bfloat16: the input holds value and gate side by side in its last dimension."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 3072
HIDDEN = 768


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, packed):
        value, gate = packed.chunk(2, dim=-1)
        return value * F.gelu(gate, approximate="tanh")


def get_inputs():
    return [torch.randn(TOKENS, 2 * HIDDEN).to(torch.bfloat16)]


def get_init_inputs():
    return []
