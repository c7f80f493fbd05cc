import math
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, mu, sigma):
        z = (x - mu) / sigma
        return torch.exp(-0.5 * z * z) / (sigma * math.sqrt(2 * math.pi))


def get_inputs():
    return [torch.randn(512, 1100), 0.25, 1.3]


def get_init_inputs():
    return []
