import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, alpha: float, beta: float):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, c, a, b):
        return self.beta * c + self.alpha * torch.bmm(a, b)


def get_inputs():
    c = torch.randn(10, 160, 144)
    a = torch.randn(10, 160, 200)
    b = torch.randn(10, 200, 144)
    return [c, a, b]


def get_init_inputs():
    return [0.5, 0.25]
