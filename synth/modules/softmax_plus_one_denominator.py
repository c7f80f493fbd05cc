import torch
import torch.nn as nn


class Model(nn.Module):
    """softmax with an extra zero logit: exp(x) / (1 + sum exp(x)), safe for large x"""

    def forward(self, x):
        m = x.amax(-1, keepdim=True).clamp(min=0)
        e = (x - m).exp()
        return e / (e.sum(-1, keepdim=True) + (-m).exp())


def get_inputs():
    return [torch.randn(8, 12, 128, 128)]


def get_init_inputs():
    return []
