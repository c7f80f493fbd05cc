import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, i, o, d):
        super().__init__()
        self.l, self.n, self.d = nn.Linear(i, o), nn.LayerNorm(o), d

    def forward(self, x):
        return F.softmax(self.n(F.leaky_relu(self.l(x), 0.1)) / self.d, -1).amax(-1)


def get_inputs():
    return [torch.randn(900, 320)]


def get_init_inputs():
    return [320, 430, 1.5]
