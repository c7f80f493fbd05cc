import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, c, 3, padding=1)
        self.b = nn.Conv2d(c, c, 3, padding=1)
        self.to(torch.bfloat16)

    def forward(self, x):
        return (x + self.b(self.a(x).relu())).relu()


def get_inputs():
    return [torch.randn(2, 32, 40, 40, dtype=torch.bfloat16)]


def get_init_inputs():
    return [32]
