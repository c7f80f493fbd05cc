"""Pre-normalised gated MLP with a residual connection, as in current language models."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 512
WIDTH = 256
HIDDEN = 512


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        h = x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-6) * self.gain
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HIDDEN]
