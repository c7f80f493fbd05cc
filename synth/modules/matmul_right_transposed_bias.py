import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B, bias):
        out = A @ B.permute(1, 0)
        out = out + bias
        return out


def get_inputs():
    return [torch.randn(1100, 640), torch.randn(900, 640), torch.randn(900)]


def get_init_inputs():
    return []
