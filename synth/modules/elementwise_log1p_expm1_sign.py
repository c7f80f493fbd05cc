import torch
import torch.nn as nn


class Model(nn.Module):
    """symlog and its inverse"""

    def forward(self, x):
        y = torch.sign(x) * torch.log1p(torch.abs(x))
        back = torch.sign(y) * torch.expm1(torch.abs(y))
        return y, back


def get_inputs():
    return [torch.randn(600, 1900) * 10]


def get_init_inputs():
    return []
