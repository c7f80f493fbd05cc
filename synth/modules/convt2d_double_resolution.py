import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c_in, c_out):
        super(Model, self).__init__()
        self.w = nn.Parameter(torch.randn(c_in, c_out, 4, 4) / (16 * c_in) ** 0.5)
        self.b = nn.Parameter(torch.zeros(c_out))

    def forward(self, x):
        return F.conv_transpose2d(x, self.w, self.b, stride=2, padding=1)


def get_inputs():
    return [torch.randn(4, 48, 30, 30)]


def get_init_inputs():
    return [48, 24]
