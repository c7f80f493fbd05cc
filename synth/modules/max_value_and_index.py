import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, scores):
        best = scores.max(-1)
        return best.values, best.indices


def get_inputs():
    return [torch.randn(3000, 321)]


def get_init_inputs():
    return []
