import torch
import torch.nn as nn


class Model(nn.Module):
    """Complex matrix product with real and imaginary parts as separate tensors."""

    def forward(self, ar, ai, br, bi):
        real = ar @ br - ai @ bi
        imag = ar @ bi + ai @ br
        return real, imag


def get_inputs():
    return [torch.randn(400, 500), torch.randn(400, 500), torch.randn(500, 300), torch.randn(500, 300)]


def get_init_inputs():
    return []
