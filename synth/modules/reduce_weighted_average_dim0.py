import torch
import torch.nn as nn


class Model(nn.Module):
    """Average of an ensemble's predictions with softmaxed weights."""

    def __init__(self, members: int):
        super().__init__()
        self.logit = nn.Parameter(torch.zeros(members))

    def forward(self, predictions):
        weight = self.logit.softmax(0)
        return (predictions * weight[:, None, None]).sum(0)


def get_inputs():
    return [torch.randn(6, 1500, 200)]


def get_init_inputs():
    return [6]
