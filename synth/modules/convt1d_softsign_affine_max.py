import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Transposed 1-D convolution -> softsign -> per-channel affine -> max pooling by 3."""

    def __init__(self, cin, cout, kernel_size, stride):
        super().__init__()
        self.deconv = nn.ConvTranspose1d(cin, cout, kernel_size, stride=stride)
        self.weight = nn.Parameter(torch.rand(cout) + 0.5)
        self.shift = nn.Parameter(torch.zeros(cout).uniform_(-0.1, 0.1))

    def forward(self, x):
        y = F.softsign(self.deconv(x))
        y = y * self.weight.view(1, -1, 1) + self.shift.view(1, -1, 1)
        return F.max_pool1d(y, 3)


def get_inputs():
    return [torch.randn(14, 20, 900)]


def get_init_inputs():
    return [20, 26, 4, 2]
