import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        d = a.float() - b.float()
        return d.square().sum(-1).mean()


def get_inputs():
    return [torch.randn(2000, 768).bfloat16(), torch.randn(2000, 768).bfloat16()]


def get_init_inputs():
    return []
