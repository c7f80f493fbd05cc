import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    FAMILIES = ("laplace", "logistic")

    def __init__(self, family):
        super().__init__()
        assert family in self.FAMILIES
        self.family = family

    def forward(self, y, mu, log_s):
        z = (y - mu) * torch.exp(-log_s)
        if self.family == "laplace":
            return z.abs() + log_s + 0.6931472
        return z + log_s + 2 * F.softplus(-z)


def get_inputs():
    return [torch.randn(900, 700), torch.randn(900, 700), torch.randn(900, 700) * 0.3]


def get_init_inputs():
    return ["logistic"]
