import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        peak = torch.amax(x.abs(), dim=1, keepdim=True)
        return x / (peak + 1e-12)


def get_inputs():
    return [torch.randn(444, 5555)]


def get_init_inputs():
    return []
