import torch
import torch.nn as nn


class Model(nn.Module):
    """Geometric and harmonic mean over the last axis of positive values."""

    def __init__(self):
        super().__init__()

    def forward(self, positive):
        geometric = positive.log().mean(-1).exp()
        harmonic = positive.size(-1) / positive.reciprocal().sum(-1)
        return geometric, harmonic


def get_inputs():
    return [torch.rand(900, 1250) + 0.05]


def get_init_inputs():
    return []
