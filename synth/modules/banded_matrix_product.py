import torch
import torch.nn as nn

size, half_band = 900, 16


class Model(nn.Module):
    """
    Multiplies a banded matrix with a dense one. Entries outside of the band are dropped first.
    """

    def __init__(self, half_band):
        super().__init__()
        self.half_band = half_band

    def forward(self, A, B):
        band = A.tril(self.half_band).triu(-self.half_band)
        return band.matmul(B)


def get_inputs():
    return [torch.randn(size, size), torch.randn(size, 700)]


def get_init_inputs():
    return [half_band]
