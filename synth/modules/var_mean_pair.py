import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim=-1, correction=1):
        super().__init__()
        self.dim = dim
        self.correction = correction

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=self.dim, correction=self.correction, keepdim=True)
        return (x - mean) / (var + 1e-5).sqrt()


def get_inputs():
    return [torch.randn(48, 36, 512)]


def get_init_inputs():
    return []
