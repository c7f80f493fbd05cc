import torch
import torch.nn as nn


class Model(nn.Module):
    """Commutator of batches of matrices, scaled; its Frobenius norm divides it."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, a, b):
        c = (torch.bmm(a, b) - torch.bmm(b, a)) * self.scale
        norm = c.pow(2).sum(dim=(1, 2), keepdim=True).sqrt()
        return c / (norm + 1e-6)


def get_inputs():
    return [torch.randn(24, 96, 96), torch.randn(24, 96, 96)]


def get_init_inputs():
    return [0.1]
