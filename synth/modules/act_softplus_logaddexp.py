import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.logaddexp(x, torch.zeros_like(x))


def get_inputs():
    return [torch.randn(600, 2500) * 5]


def get_init_inputs():
    return []
