import torch
import torch.nn as nn


class Model(nn.Module):
    # a0 b0 a1 b1 ...
    def forward(self, a, b):
        return torch.stack((a, b), dim=2).flatten(1, 2)


def get_inputs():
    return [torch.randn(16, 40, 1500), torch.randn(16, 40, 1500)]


def get_init_inputs():
    return []
