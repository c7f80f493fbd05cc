import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, flag):
        use_a = flag & (a > b)
        use_b = ~flag & (b > a)
        return torch.where(use_a, a, torch.where(use_b, b, 0.5 * (a + b)))


def get_inputs():
    return [torch.randn(900, 1100), torch.randn(900, 1100), torch.rand(900, 1100) > 0.5]


def get_init_inputs():
    return []
