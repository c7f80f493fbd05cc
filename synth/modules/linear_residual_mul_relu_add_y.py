import torch
import torch.nn as nn


class Model(nn.Module):
    """h = W x; out = relu(h * y) - h, scaled by one over the square root of the width."""

    def __init__(self, d_x, d_y):
        super().__init__()
        self.W = nn.Linear(d_x, d_y, bias=True)
        self.inv = d_y ** -0.5

    def forward(self, x, y):
        h = self.W(x)
        return ((h * y).relu() - h) * self.inv


def get_inputs():
    return [torch.randn(512, 230), torch.randn(512, 310)]


def get_init_inputs():
    return [230, 310]
