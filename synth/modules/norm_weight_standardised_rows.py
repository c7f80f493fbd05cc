import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear layer whose weight rows are standardised on every call."""

    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_dim, in_dim))
        self.bias = nn.Parameter(torch.zeros(out_dim))

    def forward(self, x):
        w = self.weight
        w = (w - w.mean(1, keepdim=True)) / (w.std(1, keepdim=True) + 1e-5)
        return nn.functional.linear(x, w, self.bias)


def get_inputs():
    return [torch.randn(600, 480)]


def get_init_inputs():
    return [480, 360]
