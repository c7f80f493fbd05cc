import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear layer whose weight is block diagonal; blocks are applied by bmm."""

    def __init__(self, features: int, blocks: int):
        super().__init__()
        assert features % blocks == 0
        self.blocks = blocks
        size = features // blocks
        self.weight = nn.Parameter(torch.randn(blocks, size, size) / size ** 0.5)
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        n, f = x.shape
        xb = x.view(n, self.blocks, -1).transpose(0, 1)
        yb = torch.bmm(xb, self.weight)
        return yb.transpose(0, 1).reshape(n, f) + self.bias


def get_inputs():
    return [torch.randn(1500, 512)]


def get_init_inputs():
    return [512, 8]
