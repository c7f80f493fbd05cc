import torch
import torch.nn as nn

class Model(nn.Module):
    """(x / d - s) ** p with three plain numbers."""

    def __init__(self, divisor: float, subtrahend: float, exponent: int):
        super(Model, self).__init__()
        self.divisor = divisor
        self.subtrahend = subtrahend
        self.exponent = exponent

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x / self.divisor
        x = x - self.subtrahend
        x = x ** self.exponent
        return x

def get_inputs():
    return [torch.randn(420, 2040)]

def get_init_inputs():
    return [2.5, 0.7, 3]
