import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv1d + bias parameter + F.hardswish; channels summed inside of groups; scaled."""

    def __init__(self, c_in, c_out, k, groups, scale):
        super().__init__()
        self.conv = nn.Conv1d(c_in, c_out, k, bias=False)
        self.bias = nn.Parameter(torch.linspace(-1, 1, c_out)[:, None])
        self.groups = groups
        self.scale = scale

    def forward(self, x):
        y = nn.functional.hardswish(self.conv(x) + self.bias)
        B, C, L = y.size()
        y = y.view(B, self.groups, C // self.groups, L).sum(2)
        return self.scale * y


def get_inputs():
    return [torch.randn(12, 28, 555)]


def get_init_inputs():
    return [28, 60, 4, 12, 0.25]
