import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim: int, unbiased: bool):
        super().__init__()
        self.dim = dim
        self.unbiased = unbiased

    def forward(self, x):
        return {
            "std": x.std(dim=self.dim, unbiased=self.unbiased),
            "var": x.var(dim=self.dim, unbiased=self.unbiased),
        }


def get_inputs():
    return [torch.randn(80, 250, 128)]


def get_init_inputs():
    return [1, False]
