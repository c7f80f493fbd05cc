import torch
import torch.nn as nn

COEFFS = [0.12, -0.5, 0.75, 1.0, -0.2]


class Model(nn.Module):
    """Horner's rule over a fixed list of coefficients."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        acc = torch.full_like(x, COEFFS[0])
        for c in COEFFS[1:]:
            acc = acc * x + c
        return acc


def get_inputs():
    return [torch.rand(450, 1300) * 2 - 1]


def get_init_inputs():
    return []