import torch
import torch.nn as nn


class Model(nn.Module):
    """Quadrature filters: modulus of a real and an imaginary convolution, log, average pool."""

    def __init__(self, in_channels, n_filters, size, pool):
        super().__init__()
        self.real = nn.Conv2d(in_channels, n_filters, size, padding=size // 2, bias=False)
        self.imag = nn.Conv2d(in_channels, n_filters, size, padding=size // 2, bias=False)
        self.pool = pool

    def forward(self, image):
        modulus = torch.sqrt(self.real(image) ** 2 + self.imag(image) ** 2 + 1e-8)
        return nn.functional.avg_pool2d(torch.log1p(modulus), self.pool)


def get_inputs():
    return [torch.rand(8, 1, 96, 96)]


def get_init_inputs():
    return [1, 16, 7, 4]
