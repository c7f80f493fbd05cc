import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, c, d):
        return torch.addmm(a @ b, c, d)


def get_inputs():
    return [torch.randn(600, 400), torch.randn(400, 500), torch.randn(600, 300), torch.randn(300, 500)]


def get_init_inputs():
    return []
