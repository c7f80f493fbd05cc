import torch
import torch.nn as nn


class Model(nn.Module):
    """A masked linear layer: (W * M) x with a binary mask in a buffer."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.linear = nn.Linear(d_in, d_out)
        row = torch.arange(d_out)[:, None] % 7
        col = torch.arange(d_in)[None, :] % 7
        self.register_buffer("mask", (row >= col).float())

    def forward(self, x):
        return nn.functional.linear(x, self.linear.weight * self.mask, self.linear.bias)


def get_inputs():
    return [torch.randn(700, 500)]


def get_init_inputs():
    return [500, 450]
