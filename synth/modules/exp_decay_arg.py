import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Exponential decay of a signal over elapsed time.

    Parameters
    ----------
    half_life : float
        Time after which half of the signal is left.
    """

    def __init__(self, half_life):
        super().__init__()
        self.rate = math.log(2) / half_life

    def forward(self, signal, elapsed):
        return signal * torch.exp(-self.rate * elapsed)


def get_inputs():
    return [torch.randn(1000, 600), torch.rand(1000, 600) * 10]


def get_init_inputs():
    return [4.5]
