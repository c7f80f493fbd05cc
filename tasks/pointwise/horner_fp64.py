"""A polynomial of degree six with learned coefficients, evaluated in float64 by Horner's rule."""
import torch
import torch.nn as nn

COUNT = 1048576
DEGREE = 6


class Model(nn.Module):
    def __init__(self, degree):
        super().__init__()
        self.coefficients = nn.Parameter(torch.randn(degree + 1, dtype=torch.float64))

    def forward(self, x):
        y = self.coefficients[-1].expand_as(x)
        for i in range(self.coefficients.numel() - 2, -1, -1):
            y = y * x + self.coefficients[i]
        return y


def get_inputs():
    return [torch.randn(COUNT, dtype=torch.float64)]


def get_init_inputs():
    return [DEGREE]
