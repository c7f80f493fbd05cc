import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        band = torch.eye(n).cumsum(0).type_as(x)
        return (x + torch.triu(torch.ones([n, n]).type_as(x), 2)) * band, torch.linspace(0, 1, n).to(x).sort().values + x


def get_inputs():
    return [torch.randn(4, 24, 24)]


def get_init_inputs():
    return []
