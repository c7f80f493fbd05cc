import torch
import torch.nn as nn


class Model(nn.Module):
    """Sums any number of tensors after each has had its own gain."""

    def __init__(self, *gains):
        super().__init__()
        self.gains = gains or (1.0, 0.5, 0.25)

    def forward(self, *tensors):
        total = None
        for g, t in zip(self.gains, tensors):
            part = g * torch.nn.functional.softsign(t)
            total = part if total is None else total + part
        return total


def get_inputs():
    return [torch.randn(210, 1300), torch.randn(210, 1300), torch.randn(1300), torch.randn(210, 1)]


def get_init_inputs():
    return [1.0, 0.8, -0.4, 2.0]
