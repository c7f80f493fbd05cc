import torch
from torch import Tensor
import torch.nn as nn


class Model(nn.Module):
    """Layer normalisation with an optional shift."""

    def __init__(self, d_model: int, eps: float = 1e-5, bias: bool = True):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.randn(d_model))
        self.bias = nn.Parameter(torch.randn(d_model)) if bias else None

    def forward(self, hidden: Tensor) -> Tensor:
        u = hidden.mean(-1, keepdim=True)
        s = (hidden - u).pow(2).mean(-1, keepdim=True)
        out = self.gain * ((hidden - u) / torch.sqrt(s + self.eps))
        if self.bias is not None:
            out = out + self.bias
        return out


d_model = 1344


def get_init_inputs():
    return [d_model, 1e-6, False]


def get_inputs():
    return [torch.randn(2, 333, d_model)]
