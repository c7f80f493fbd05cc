"""Twenty-four times the mean of squares of a row, a weight and an addition, on a small batch."""
import torch
import torch.nn as nn

ROWS = 64
WIDTH = 256


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.rand(WIDTH)) for _ in range(24))

    def forward(self, x):
        for weight in self.weights:
            x = x + weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
        return x


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return []
