import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Analysis and synthesis with one shared kernel: conv, soft threshold, transposed conv."""

    def __init__(self, in_ch, atoms, k, lam):
        super().__init__()
        self.D = nn.Parameter(torch.randn(atoms, in_ch, k, k) * 0.05)
        self.lam = lam

    def forward(self, x):
        code = F.conv2d(x, self.D, stride=2)
        code = F.softshrink(code, self.lam)
        return F.conv_transpose2d(code, self.D, stride=2)


def get_inputs():
    return [torch.randn(6, 3, 97, 97)]


def get_init_inputs():
    return [3, 32, 5, 0.05]
