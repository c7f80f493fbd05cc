import torch
import torch.nn as nn


class Model(nn.Module):
    """Mean without the k smallest and the k largest."""

    def __init__(self, trim: int):
        super().__init__()
        self.trim = trim

    def forward(self, samples):
        ordered = samples.sort(dim=0).values
        return ordered[self.trim:-self.trim].mean(dim=0)


def get_inputs():
    return [torch.randn(32, 20000)]


def get_init_inputs():
    return [4]
