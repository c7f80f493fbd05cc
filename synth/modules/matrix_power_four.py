import torch
import torch.nn as nn


class Model(nn.Module):
    # P^4 of a row-stochastic matrix by squaring twice
    def forward(self, logits):
        P = torch.softmax(logits, dim=-1)
        P = P @ P
        return P @ P


def get_inputs():
    return [torch.randn(12, 320, 320)]


def get_init_inputs():
    return []
