"""A chain of activations; eager execution makes six passes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT = 300000


class Model(nn.Module):
    def forward(self, x):
        y = F.hardswish(x + 0.5)
        y = F.leaky_relu(y - 0.25, negative_slope=0.1)
        return y * x


def get_inputs():
    return [torch.randn(COUNT) * 3.0]


def get_init_inputs():
    return []
