# reverse scalar ops
import torch


class Model(torch.nn.Module):
    def __init__(self, numerator: float = 2.0):
        super().__init__()
        self.numerator = numerator

    def forward(self, x):
        # numbers on the LEFT of the operator
        a = 1 - x
        b = self.numerator / (1.5 + x * x)
        return a * b


def get_init_inputs():
    return [3.5]


def get_inputs():
    return [torch.randn(33, 41, 531)]
