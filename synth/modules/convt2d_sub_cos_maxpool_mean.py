import torch
import torch.nn as nn


class Model(nn.Module):
    """Transposed convolution, subtraction of a parameter, cosine, max pooling and spatial mean."""

    def __init__(self, in_c, out_c, kernel_size, stride, padding, pool):
        super().__init__()
        self.ct = nn.ConvTranspose2d(in_c, out_c, kernel_size, stride=stride, padding=padding)
        self.ref = nn.Parameter(torch.randn(1, out_c, 1, 1) * 0.2)
        self.mp = nn.MaxPool2d(kernel_size=pool, stride=pool)

    def forward(self, x):
        y = self.ct(x)
        y -= self.ref
        y = self.mp(torch.cos(y))
        return y.mean([2, 3], keepdim=True)


def get_inputs():
    return [torch.randn(8, 16, 27, 31)]


def get_init_inputs():
    return [16, 28, 4, 2, 1, 3]
